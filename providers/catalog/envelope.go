package catalog

import "cmp"

// SchemaVersion is the version of all answers. It changes when a field goes or changes its meaning.
const SchemaVersion = 1

// Envelope is what every command and tool answers: either Data or Error is set.
type Envelope struct {
	// SchemaVersion is [SchemaVersion].
	SchemaVersion int `json:"schema_version"`
	// Version is the version of the program.
	Version string `json:"agf_version"`
	// OK tells which of the two it is.
	OK bool `json:"ok"`
	// Data is the answer of the operation.
	Data any `json:"data,omitempty"`
	// Error is why there is none.
	Error *Error `json:"error,omitempty"`
}

// Seal puts the outcome of an operation into an envelope. With an error, data is not looked at.
func (c *Catalog) Seal(data any, err error) Envelope { return Seal(c.opts.Version, data, err) }

// Seal is [Catalog.Seal] for an outcome without a catalog, such as the error of [New].
func Seal(version string, data any, err error) Envelope {
	out := Envelope{SchemaVersion: SchemaVersion, Version: cmp.Or(version, DefaultVersion)}
	if err != nil {
		out.Error = AsError(err)
		return out
	}
	out.OK, out.Data = true, data
	return out
}

// Warning says that an answer may be incomplete, and where.
type Warning struct {
	// Agent is whose store.
	Agent Agent `json:"agent"`
	// Code is a [Reason] that is a loss, "scan_failed", or "missing_directory".
	Code string `json:"code"`
	// Message is for people.
	Message string `json:"message"`
}
