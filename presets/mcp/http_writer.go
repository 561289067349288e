package mcp

import (
	"net/http"
	"time"
)

// sessionWriter learns the id of a new session before the client does, which may use it at once.
type sessionWriter struct {
	http.ResponseWriter
	learn func(id string)
	seen  bool
}

func (w *sessionWriter) look() {
	if w.seen {
		return
	}
	w.seen = true
	if id := w.Header().Get(headerSession); id != "" {
		w.learn(id)
	}
}

// WriteHeader implements [http.ResponseWriter].
func (w *sessionWriter) WriteHeader(status int) {
	w.look()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *sessionWriter) Write(data []byte) (int, error) {
	w.look()
	return w.ResponseWriter.Write(data)
}

// Unwrap lets the engine flush.
func (w *sessionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements [http.Flusher], which some code asks for by type.
func (w *sessionWriter) Flush() {
	w.look()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // What cannot be flushed is sent at the end.
}

// patientWriter bounds each write to a client. There is no bound for a whole answer: streams have none.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newPatientWriter(w http.ResponseWriter) *patientWriter {
	return &patientWriter{ResponseWriter: w, control: http.NewResponseController(w)}
}

// Write implements [http.ResponseWriter].
func (w *patientWriter) Write(data []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // A host's own listener may have none.
	return w.ResponseWriter.Write(data)
}

// Unwrap lets the engine flush.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
