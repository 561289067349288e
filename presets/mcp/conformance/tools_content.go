package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/presets/mcp"
)

// anyArguments is the schema of the fixtures that take none, or any.
const anyArguments = `{"type":"object"}`

func fixture(name, description, schema string, handler sdk.ToolHandler) mcp.Tool {
	return mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema), Handler: handler}
}

// says returns a result that is one text.
func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// always returns a handler that always answers the same.
func always(content ...sdk.Content) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: content}, nil
	}
}

func embedded(uri string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded resource."}}
}

// contentTools answer with each kind of content.
func contentTools() []mcp.Tool {
	text := &sdk.TextContent{Text: "This is a simple text response for testing."}
	picture := &sdk.ImageContent{Data: pixel(), MIMEType: "image/png"}
	sound := &sdk.AudioContent{Data: silence(), MIMEType: "audio/wav"}
	failed := says("This tool fails on purpose.")
	failed.IsError = true
	return []mcp.Tool{
		fixture("test_simple_text", "Answers with text.", anyArguments, always(text)),
		fixture("test_image_content", "Answers with a picture.", anyArguments, always(picture)),
		fixture("test_audio_content", "Answers with sound.", anyArguments, always(sound)),
		fixture("test_embedded_resource", "Answers with a resource.", anyArguments, always(embedded("test://embedded-resource"))),
		fixture("test_multiple_content_types", "Answers with several kinds.", anyArguments, always(text, picture, embedded("test://mixed-content-resource"))),
		fixture("test_error_handling", "Fails.", anyArguments, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return failed, nil }),
		fixture("json_schema_2020_12_tool", "Has a schema that uses much of JSON Schema 2020-12.", wideSchema, always(text)),
		fixture("test_x_mcp_header", "Has an argument that is mirrored in a header.", mirroredSchema, always(text)),
	}
}

const wideSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
  "properties": {
    "name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}
  },
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
}`

const mirroredSchema = `{"type":"object","properties":{
  "region":{"type":"string","description":"Mirrored in Mcp-Param-Region.","x-mcp-header":"Region"},
  "level":{"type":"integer","description":"Not mirrored."}}}`

// pixel is a picture of one red point.
func pixel() []byte {
	picture := image.NewRGBA(image.Rect(0, 0, 1, 1))
	picture.Set(0, 0, color.RGBA{R: 255, A: 255})
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil { // A buffer takes everything.
		panic(err)
	}
	return out.Bytes()
}

// silence is a WAV file with one silent sample: mono, 16 bits, 8 kHz.
func silence() []byte {
	const rate, sample = 8000, 2
	out := []byte("RIFF")
	out = binary.LittleEndian.AppendUint32(out, 36+sample)
	out = append(out, "WAVEfmt "...)
	out = binary.LittleEndian.AppendUint32(out, 16)
	out = binary.LittleEndian.AppendUint16(out, 1)
	out = binary.LittleEndian.AppendUint16(out, 1)
	out = binary.LittleEndian.AppendUint32(out, rate)
	out = binary.LittleEndian.AppendUint32(out, rate*sample)
	out = binary.LittleEndian.AppendUint16(out, sample)
	out = binary.LittleEndian.AppendUint16(out, 8*sample)
	out = append(out, "data"...)
	out = binary.LittleEndian.AppendUint32(out, sample)
	return append(out, 0, 0)
}
