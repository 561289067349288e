package opencode

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// version is a version of OpenCode as far as behaviour depends on it.
type version struct{ major, minor int }

// quiet says that this version answers success for sessions, requests and servers that do not exist. The versions tried are
// 1.2.27, which does, and 1.17.19, which does not; in between, asking first costs a call and is always right.
func (v version) quiet() bool { return v.major < 1 || v.major == 1 && v.minor < 17 }

func parseVersion(text string) version {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 {
		return version{}
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return version{}
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return version{}
	}
	return version{major: major, minor: minor}
}

// Health asks the server whether it is well and returns its version, such as "1.18.33".
func (c *Client) Health(ctx context.Context) (string, error) {
	doc, err := c.object(ctx, call{op: "asking OpenCode for its health", method: "GET", path: "/global/health"})
	if err != nil {
		return "", err
	}
	text := doc.Get("version").String()
	if !doc.Get("healthy").Bool() {
		return text, fmt.Errorf("asking OpenCode for its health: %w: it says that it is not healthy", ErrServer)
	}
	c.link.mu.Lock()
	c.link.version = parseVersion(text)
	c.link.mu.Unlock()
	return text, nil
}

// quiet reports whether the server keeps silent about what does not exist, asking its version once.
func (c *Client) quiet(ctx context.Context) (bool, error) {
	c.link.mu.Lock()
	known := c.link.version
	c.link.mu.Unlock()
	if known == (version{}) {
		text, err := c.Health(ctx)
		if err != nil {
			return false, err
		}
		known = parseVersion(text)
	}
	return known.quiet(), nil
}

// Provider is a model provider that is configured and has credentials.
type Provider struct {
	ID, Name string
	// Models are the ids of its models, in no order.
	Models []string
}

// Providers lists the providers that prompts can use now.
func (c *Client) Providers(ctx context.Context) ([]Provider, error) {
	doc, err := c.object(ctx, call{op: "listing providers", method: "GET", path: "/config/providers"})
	if err != nil {
		return nil, err
	}
	var out []Provider
	for _, p := range doc.Get("providers").Array() {
		provider := Provider{ID: p.Get("id").String(), Name: p.Get("name").String()}
		for id := range p.Get("models").Map() {
			provider.Models = append(provider.Models, id)
		}
		out = append(out, provider)
	}
	return out, nil
}

// Agents lists the names of the configured agents.
func (c *Client) Agents(ctx context.Context) ([]string, error) {
	agents, err := c.list(ctx, call{op: "listing agents", method: "GET", path: "/agent"})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = a.Get("name").String()
	}
	return names, nil
}
