package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// reportProgress tells a client that asked for it, every so often, that its call goes on. Clients start their time limit anew
// with each report, so a call may wait for a person. The function that it returns ends the reports, and returns after the last.
func (t *ToolServer) reportProgress(ctx context.Context, req *sdk.CallToolRequest) (end func()) {
	token := req.Params.GetProgressToken()
	if token == nil || t.options.ProgressInterval < 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(t.options.ProgressInterval)
		defer ticker.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			params := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: "It goes on, or waits for a person."}
			if err := req.Session.NotifyProgress(ctx, params); err != nil {
				return // The client has gone or the call has ended; whoever calls will see it.
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
