package opencode

import (
	"cmp"
	"fmt"

	"github.com/tidwall/gjson"
)

// Event is something that happened on the server. There is no replay: what happened before the subscription, or while it was
// broken, is not told.
type Event struct {
	// ID is the server's; older versions have none.
	ID string
	// Type is the server's own name, such as "message.part.updated".
	Type string
	// SessionID is the session that it is about; empty if it is about none.
	SessionID string
	// Body is the event decoded: one of the types of this package. For a type that is not known here it is [Unknown].
	Body EventBody
	// Raw are the event's properties as they came.
	Raw string
}

// EventBody is one of [Connected], [Gap], [MessageUpdated], [MessageRemoved], [PartUpdated], [PartDelta], [PartRemoved], [SessionChanged],
// [SessionStatus], [SessionIdle], [SessionError], [PermissionAsked], [PermissionReplied], [QuestionAsked], [QuestionClosed],
// [ToolsChanged] and [Unknown].
//
//sumtype:decl
type EventBody interface{ eventBody() }

type (
	// Connected is the first event of a subscription.
	Connected struct{}
	// Gap says that events were missed, for the reason given: fetch what matters again. It is made by [Events], not sent by
	// the server.
	Gap struct{ Reason string }
	// MessageUpdated is a message without its parts, new or changed.
	MessageUpdated struct{ Message Message }
	// MessageRemoved says that a message is gone.
	MessageRemoved struct{ MessageID string }
	// PartUpdated is a part as it stands now, new or changed. Deltas before it are included in it.
	PartUpdated struct{ Part Part }
	// PartDelta is text to be put at the end of a field of a part, "text" mostly.
	PartDelta struct{ MessageID, PartID, Field, Delta string }
	// PartRemoved says that a part is gone.
	PartRemoved struct{ MessageID, PartID string }
	// SessionChanged is a session that was created, updated or deleted; the event's type tells which.
	SessionChanged struct{ Session Session }
	// SessionStatus is what a session does now.
	SessionStatus struct{ Status Status }
	// SessionIdle is the end of a turn. After an abort it comes twice, once before and once after the last message.
	SessionIdle struct{}
	// SessionError is the error of a turn; it comes before SessionIdle.
	SessionError struct{ Err *ModelError }
	// PermissionAsked is a new request.
	PermissionAsked struct{ Permission Permission }
	// PermissionReplied says that a request was answered, by whomever.
	PermissionReplied struct {
		RequestID string
		Reply     PermissionReply
	}
	// QuestionAsked is a new question.
	QuestionAsked struct{ Question QuestionRequest }
	// QuestionClosed says that a question was answered or dismissed.
	QuestionClosed struct {
		RequestID string
		Answered  bool
	}
	// ToolsChanged says that the tools of an MCP server are others now.
	ToolsChanged struct{ Server string }
	// Unknown is any other event; look at the Raw properties.
	Unknown struct{}
)

func (Connected) eventBody()         {}
func (Gap) eventBody()               {}
func (MessageUpdated) eventBody()    {}
func (MessageRemoved) eventBody()    {}
func (PartUpdated) eventBody()       {}
func (PartDelta) eventBody()         {}
func (PartRemoved) eventBody()       {}
func (SessionChanged) eventBody()    {}
func (SessionStatus) eventBody()     {}
func (SessionIdle) eventBody()       {}
func (SessionError) eventBody()      {}
func (PermissionAsked) eventBody()   {}
func (PermissionReplied) eventBody() {}
func (QuestionAsked) eventBody()     {}
func (QuestionClosed) eventBody()    {}
func (ToolsChanged) eventBody()      {}
func (Unknown) eventBody()           {}

// heartbeat is the type of the events that only say that the stream lives; [Events] does not pass them on.
const heartbeat = "server.heartbeat"

// decodeEvent reads one event: {id?, type, properties}. It fails only for what is no such object; types and fields that are not
// known are kept.
func decodeEvent(data string) (Event, error) {
	if !gjson.Valid(data) {
		return Event{}, fmt.Errorf("decoding an event: %w: not JSON: %.80q", ErrUnexpectedReply, data)
	}
	doc := gjson.Parse(data)
	// The stream over all directories wraps each event.
	if payload := doc.Get("payload"); payload.IsObject() {
		doc = payload
	}
	kind := doc.Get("type")
	if !doc.IsObject() || kind.Type != gjson.String || kind.Str == "" {
		return Event{}, fmt.Errorf("decoding an event: %w: no type: %.80q", ErrUnexpectedReply, data)
	}
	properties := doc.Get("properties")
	return Event{
		ID: doc.Get("id").String(), Type: kind.Str, SessionID: sessionOf(properties),
		Body: decodeBody(kind.Str, properties), Raw: properties.Raw,
	}, nil
}

// sessionOf finds the session id, whose place depends on the type and the version.
func sessionOf(p gjson.Result) string {
	return cmp.Or(p.Get("sessionID").String(), p.Get("part.sessionID").String(), p.Get("info.sessionID").String(), infoID(p))
}

// infoID is the id of a session that an event carries; older versions have it there only.
func infoID(p gjson.Result) string {
	if id := p.Get("info.id").String(); checkSessionID("", id) == nil {
		return id
	}
	return ""
}

func decodeBody(kind string, p gjson.Result) EventBody {
	switch kind {
	case "server.connected":
		return Connected{}
	case "message.updated":
		return MessageUpdated{Message: decodeInfo(p.Get("info"))}
	case "message.removed":
		return MessageRemoved{MessageID: p.Get("messageID").String()}
	case "message.part.updated":
		return PartUpdated{Part: decodePart(p.Get("part"))}
	case "message.part.delta":
		return PartDelta{
			MessageID: p.Get("messageID").String(), PartID: p.Get("partID").String(),
			Field: p.Get("field").String(), Delta: p.Get("delta").String(),
		}
	case "message.part.removed":
		return PartRemoved{MessageID: p.Get("messageID").String(), PartID: p.Get("partID").String()}
	case "session.created", "session.updated", "session.deleted":
		return SessionChanged{Session: decodeSession(p.Get("info"))}
	case "session.status":
		return SessionStatus{Status: decodeStatus(p.Get("status"))}
	case "session.idle":
		return SessionIdle{}
	case "session.error":
		return decodeSessionError(p)
	default:
		return decodeRequestBody(kind, p)
	}
}

// decodeRequestBody reads the events about what a turn asks for, and about tools.
func decodeRequestBody(kind string, p gjson.Result) EventBody {
	request := cmp.Or(p.Get("requestID").String(), p.Get("permissionID").String())
	switch kind {
	case "permission.asked":
		return PermissionAsked{Permission: decodePermission(p)}
	case "permission.replied":
		reply := cmp.Or(p.Get("reply").String(), p.Get("response").String())
		return PermissionReplied{RequestID: request, Reply: PermissionReply(reply)}
	case "question.asked":
		return QuestionAsked{Question: decodeQuestion(p)}
	case "question.replied", "question.rejected":
		return QuestionClosed{RequestID: request, Answered: kind == "question.replied"}
	case "mcp.tools.changed":
		return ToolsChanged{Server: p.Get("server").String()}
	default:
		return Unknown{}
	}
}

func decodeSessionError(p gjson.Result) EventBody {
	err := decodeModelError(p.Get("error"))
	if err == nil {
		err = &ModelError{Name: "UnknownError"}
	}
	return SessionError{Err: err}
}
