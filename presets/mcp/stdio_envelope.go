package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// codeTooMany answers a request for which there is no room. It is of the range that JSON-RPC leaves to servers.
const codeTooMany = -32000

// maxExactInteger is the largest number of which every smaller one is exact in a JSON number as the engine reads it.
const maxExactInteger = 1 << 53

// envelope is one message as it stands on the wire, read once. The engine's own decoder is not used on lines: it takes null and
// fractional ids for none, and closes the connection over what it cannot read.
type envelope struct {
	id     jsonrpc.ID
	hasID  bool
	method string // empty in a response
	params json.RawMessage
	result json.RawMessage
	fault  *jsonrpc.Error
}

func (e envelope) isCall() bool { return e.method != "" && e.hasID }

// refusal is the guard's own answer. The id is null unless it is known which request is meant.
type refusal struct {
	id      jsonrpc.ID
	code    int
	message string
}

func invalidRequest(id jsonrpc.ID, message string) *refusal {
	return &refusal{id: id, code: jsonrpc.CodeInvalidRequest, message: message}
}

func invalidParams(id jsonrpc.ID, message string) *refusal {
	return &refusal{id: id, code: jsonrpc.CodeInvalidParams, message: message}
}

// encode returns the answer as a line. It is written out by hand, since the engine's encoder leaves a null id away.
func (r *refusal) encode() []byte {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	line, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   fault  `json:"error"`
	}{"2.0", r.id.Raw(), fault{r.code, r.message}})
	if err != nil { // An id is nil, a string or an integer, so this cannot be.
		line = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return append(line, '\n')
}

// parseEnvelope reads one line that is not blank.
func parseEnvelope(line []byte) (envelope, *refusal) {
	if !utf8.Valid(line) || !json.Valid(line) {
		return envelope{}, &refusal{code: jsonrpc.CodeParseError, message: "parse error: a line must be one JSON value"}
	}
	if first := bytes.TrimLeft(line, " \t\r\n")[0]; first == '[' {
		return envelope{}, invalidRequest(jsonrpc.ID{}, "batches are not supported")
	} else if first != '{' {
		return envelope{}, invalidRequest(jsonrpc.ID{}, "a message must be an object")
	}
	var fields map[string]json.RawMessage // A map, since struct fields would match in any case of letters.
	if err := json.Unmarshal(line, &fields); err != nil {
		return envelope{}, invalidRequest(jsonrpc.ID{}, "a message must be an object")
	}
	var e envelope
	if raw, present := fields["id"]; present {
		id, ok := parseID(raw)
		if !ok {
			return envelope{}, invalidRequest(jsonrpc.ID{}, "an id must be a string or a whole number of at most 53 bits")
		}
		e.id, e.hasID = id, true
	}
	if text, ok := stringOf(fields["jsonrpc"]); !ok || text != "2.0" {
		return envelope{}, invalidRequest(e.id, `"jsonrpc" must be "2.0"`)
	}
	if _, present := fields["method"]; present {
		return e.request(fields)
	}
	return e.response(fields)
}

// request reads the fields of a request or a notification.
func (e envelope) request(fields map[string]json.RawMessage) (envelope, *refusal) {
	_, result := fields["result"]
	_, fault := fields["error"]
	method, ok := stringOf(fields["method"])
	switch params := fields["params"]; {
	case !ok || method == "":
		return envelope{}, invalidRequest(e.id, `"method" must be a string that is not empty`)
	case result || fault:
		return envelope{}, invalidRequest(e.id, "a message is a request or a response, not both")
	case len(params) > 0 && params[0] != '{' && params[0] != 'n':
		return envelope{}, invalidParams(e.id, `"params" must be an object`)
	case len(params) > 0 && params[0] == '{':
		e.params = params
	}
	e.method = method
	return e, nil
}

// response reads the fields of a response.
func (e envelope) response(fields map[string]json.RawMessage) (envelope, *refusal) {
	result, good := fields["result"]
	fault, bad := fields["error"]
	if !e.hasID || good == bad {
		// Not its id: it is not an id of the client's own.
		return envelope{}, invalidRequest(jsonrpc.ID{}, `a message must have a "method", or an "id" and either a "result" or an "error"`)
	}
	e.result = result
	if bad {
		if fault[0] != '{' || json.Unmarshal(fault, &e.fault) != nil {
			return envelope{}, invalidRequest(jsonrpc.ID{}, `"error" must have a code that is a number and a message that is a string`)
		}
	}
	return e, nil
}

// shapeFault says what is wrong with the parameters of a request, or nothing. The engine would say it with the names of its own types, and with
// the whole of the parameters.
func (e envelope) shapeFault(modern bool) string {
	params := objectOf(e.params)
	switch {
	case e.method == methodInitialize && !modern: // In the newer lifecycle there is no such method.
		info := objectOf(params["clientInfo"])
		if !isString(params["protocolVersion"]) || objectOf(params["capabilities"]) == nil || !isString(info["name"]) || !isString(info["version"]) {
			return `"initialize" needs protocolVersion (string), capabilities (object) and clientInfo (object with name and version)`
		}
	case e.method == methodCallTool && params != nil && !isString(params["name"]):
		return `"tools/call" needs name (string)`
	case e.method == methodListTools && params["cursor"] != nil && !isString(params["cursor"]):
		return `the cursor of "tools/list" must be a string`
	}
	return ""
}

// message makes what the engine takes.
func (e envelope) message() jsonrpc.Message {
	if e.method != "" {
		return &jsonrpc.Request{ID: e.id, Method: e.method, Params: e.params}
	}
	response := &jsonrpc.Response{ID: e.id, Result: e.result}
	if e.fault != nil { // An interface that holds a nil pointer would be an error.
		response.Error = e.fault
	}
	return response
}

// parseID reads an id. The engine would round what is not a whole number that a float64 holds exactly, and so mix ids up.
func parseID(raw json.RawMessage) (jsonrpc.ID, bool) {
	if text, ok := stringOf(raw); ok {
		id, err := jsonrpc.MakeID(text)
		return id, err == nil
	}
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || number > maxExactInteger || number < -maxExactInteger {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(float64(number))
	return id, err == nil
}

// stringOf returns the string that the JSON value is, if it is one.
func stringOf(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

func isString(raw json.RawMessage) bool {
	_, ok := stringOf(raw)
	return ok
}

// objectOf returns the members of a JSON object, or nil if it is none.
func objectOf(raw json.RawMessage) map[string]json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil
	}
	return fields
}
