package main

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources adds what the suite reads.
func addResources(server *sdk.Server) {
	text := func(kind, text string) sdk.ResourceHandler {
		return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return contents(&sdk.ResourceContents{URI: req.Params.URI, MIMEType: kind, Text: text}), nil
		}
	}
	server.AddResource(&sdk.Resource{Name: "static-text", MIMEType: "text/plain", URI: "test://static-text"}, text("text/plain", "This is the content of the static text resource."))
	server.AddResource(&sdk.Resource{Name: "watched", MIMEType: "text/plain", URI: "test://watched-resource"}, text("text/plain", "Watched."))
	server.AddResource(&sdk.Resource{Name: "static-binary", MIMEType: "image/png", URI: "test://static-binary"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return contents(&sdk.ResourceContents{URI: req.Params.URI, MIMEType: "image/png", Blob: pixel()}), nil
		})
	server.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", MIMEType: "application/json", URITemplate: "test://template/{id}/data"}, readTemplate)
}

func contents(content *sdk.ResourceContents) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{content}}
}

func readTemplate(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
	text, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
	if err != nil {
		return nil, err
	}
	return contents(&sdk.ResourceContents{URI: req.Params.URI, MIMEType: "application/json", Text: string(text)}), nil
}
