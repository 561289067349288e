package modelserver

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// front is one wire protocol: it reads requests and writes answers, and knows nothing of scripts. Its methods are pure.
type front interface {
	// parse reads a request; the path is that of the URL.
	parse(path string, body []byte) (Request, error)
	// whole is the answer as one JSON document.
	whole(t turn) any
	// stream is the answer as a sequence of frames.
	stream(t turn) frames
	// fail is the body of an error answer.
	fail(status int, message string) any
}

// turn is a request with the answer that was chosen for it, names, ids and counts filled in.
type turn struct {
	req   Request
	reply Reply
	id    string // without the protocol's prefix
	usage Usage
	chunk int // bytes of a piece of text
}

// frame is one server-sent event; protocols without event names leave the name empty.
type frame struct{ event, data string }

// frames are a streamed answer in three parts, so that it can stop between them.
type frames struct{ open, body, end []frame }

// newFrame encodes a value of this package's own making, which always can be encoded.
func newFrame(event string, value any) frame {
	return frame{event: event, data: string(encode(value))}
}

func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("modelserver: encoding an answer: %v", err))
	}
	return data
}

// object spares the answers a type for each of their many shapes.
type object = map[string]any

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, prefix := range []string{"", "/v1"} {
		mux.Handle("POST "+prefix+"/chat/completions", s.handle(chatFront{}))
		mux.Handle("POST "+prefix+"/responses", s.handle(responsesFront{}))
		mux.Handle("POST "+prefix+"/messages", s.handle(messagesFront{}))
		mux.Handle("POST "+prefix+"/messages/count_tokens", s.count("input_tokens"))
		mux.HandleFunc("GET "+prefix+"/models", s.listModels)
	}
	for _, prefix := range []string{"/v1beta", "/v1"} {
		mux.Handle("POST "+prefix+"/models/{call}", s.gemini())
	}
	mux.HandleFunc("GET /v1beta/models", s.listGeminiModels)
	mux.HandleFunc("/", func(w http.ResponseWriter, hr *http.Request) {
		writeJSON(w, http.StatusNotFound, chatFront{}.fail(http.StatusNotFound, "unknown path "+hr.URL.Path))
	})
	return mux
}

// handle serves the model requests of one protocol.
func (s *Server) handle(f front) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, s.opts.MaxBodyBytes))
		if err != nil {
			status := http.StatusBadRequest
			if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
				status = http.StatusRequestEntityTooLarge
			}
			writeJSON(w, status, f.fail(status, err.Error()))
			return
		}
		req, err := f.parse(hr.URL.Path, body)
		req.Path, req.Header, req.Body = hr.URL.Path, hr.Header.Clone(), body
		req, reply := s.record.arrive(req, func(r *Request) Reply { return s.choose(hr, r, err) })
		s.play(w, hr, f, s.prepare(req, reply))
	})
}

// count answers a client that wants to know the size of a prompt beforehand; it is no model request.
func (s *Server) count(field string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		n, err := io.Copy(io.Discard, http.MaxBytesReader(w, hr.Body, s.opts.MaxBodyBytes))
		if err != nil {
			writeJSON(w, http.StatusBadRequest, chatFront{}.fail(http.StatusBadRequest, err.Error()))
			return
		}
		writeJSON(w, http.StatusOK, object{field: tokens(int(n))})
	})
}

func (s *Server) allowed(hr *http.Request) bool {
	if s.opts.APIKey == "" {
		return true
	}
	bearer, _ := strings.CutPrefix(hr.Header.Get("Authorization"), "Bearer ")
	given := []string{bearer, hr.Header.Get("X-Api-Key"), hr.Header.Get("X-Goog-Api-Key"), hr.URL.Query().Get("key")}
	return slices.ContainsFunc(given, func(key string) bool {
		return subtle.ConstantTimeCompare([]byte(key), []byte(s.opts.APIKey)) == 1
	})
}

func (s *Server) listModels(w http.ResponseWriter, hr *http.Request) {
	if !s.allowed(hr) {
		writeJSON(w, http.StatusUnauthorized, chatFront{}.fail(http.StatusUnauthorized, "wrong API key"))
		return
	}
	list := make([]object, len(s.opts.Models))
	for i, id := range s.opts.Models {
		// The fields of two protocols: OpenAI's clients read "object", Anthropic's read "type".
		list[i] = object{
			"id": id, "object": "model", "created": 0, "owned_by": "modelserver",
			"type": "model", "display_name": id, "created_at": "1970-01-01T00:00:00Z",
		}
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "data": list, "has_more": false})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(value))
}
