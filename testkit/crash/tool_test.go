package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentd/messages"
	"agentd/presets"
)

const toolName = "space_count_bump"

// counter is a tool that is not idempotent: each run of it is a line in a file, beside the runtime's own.
type counter struct {
	mu   sync.Mutex
	path string
}

func newCounter(dir string) *counter { return &counter{path: filepath.Join(dir, "runs.log")} }

// presets returns a manager that offers the tool everywhere.
func (c *counter) presets() (*presets.Manager, error) {
	manager, err := presets.NewManager(nil)
	if err != nil {
		return nil, err
	}
	err = manager.RegisterAdapter(presets.Adapter{
		ID: "count.bump", Name: toolName, Description: "Counts.", InputSchema: []byte(`{"type":"object"}`),
		Make: func(env presets.Env) (presets.RunFunc, error) {
			return func(ctx context.Context, _ json.RawMessage) (presets.Result, error) { return c.run(ctx, env.CallID) }, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return manager, manager.RegisterPreset(presets.Preset{
		Name: "count", Risk: messages.RiskNormal, Contexts: []presets.Pattern{{}}, ToolIDs: []string{"count.bump"},
	})
}

// run notes that a call ran, and takes a moment, in which it may be cancelled.
func (c *counter) run(ctx context.Context, id messages.CallID) (presets.Result, error) {
	if err := c.note(id); err != nil {
		return presets.Result{}, err
	}
	select {
	case <-time.After(time.Millisecond):
		return presets.Text("counted"), nil
	case <-ctx.Done():
		return presets.Result{}, context.Cause(ctx)
	}
}

func (c *counter) note(id messages.CallID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	file, err := os.OpenFile(c.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%s\n", id)
	return errors.Join(err, file.Close())
}

// runs reads how often each call ran.
func (c *counter) runs() (map[messages.CallID]int, error) {
	runs := map[messages.CallID]int{}
	file, err := os.Open(c.path)
	if errors.Is(err, os.ErrNotExist) {
		return runs, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		runs[messages.CallID(lines.Text())]++
	}
	return runs, lines.Err()
}
