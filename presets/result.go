package presets

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"agentd/messages"
)

// Result is what a call came to.
type Result struct {
	// Text is what the model is told. JSON by habit.
	Text string
	// IsError says that the text reports a failure.
	IsError bool
	// Status is how far the call came: completed; failed; denied (refused or an approval is required, it did not
	// run); cancelled (it did not run); interrupted (its effects are unknown). A tool leaves it empty; the surface sets it.
	Status messages.CallStatus
	// CallID is the call. The surface sets it.
	CallID messages.CallID
	// CutBytes is how many bytes of the text were left out; the text says so too. Zero means none.
	CutBytes int
	// RequestID is the open request, when Cause is [ErrApprovalRequired] and a person was asked.
	RequestID messages.RequestID
	// Cause says why IsError is set, for programs: it wraps one of the errors of this package. It does not cross a wire.
	Cause error
}

// Text returns a result that is good and plain.
func Text(text string) Result { return Result{Text: text} }

// JSON returns a good result whose text is the value as JSON.
func JSON(value any) (Result, error) {
	text, err := encodeJSON(value)
	if err != nil {
		return Result{}, fmt.Errorf("encoding result: %w", err)
	}
	return Result{Text: string(text)}, nil
}

// failed is the result of a call that did not do what it should.
func failed(status messages.CallStatus, cause error) Result {
	return Result{Text: answer(map[string]any{"ok": false, "error": cause.Error()}), IsError: true, Status: status, Cause: cause}
}

func cancelled(ctx context.Context) Result {
	return failed(messages.CallCancelled, fmt.Errorf("%w before it ran: %w", ErrCancelled, context.Cause(ctx)))
}

// approvalRequired is the structured answer of a call that a person has to approve first.
func approvalRequired(ask Ask, id messages.RequestID) Result {
	fields := askFields(ask, "approval_required")
	fields["message"] = "It did not run. The person has to approve exactly this call. Ask with " + RequestToolName + ", then call again with the same arguments."
	if id != "" {
		fields["request_id"] = id
		fields["message"] = "It did not run. The person is asked to approve exactly this call. Call again with the same arguments once it is approved."
	}
	return Result{
		Text: answer(fields), IsError: true, Status: messages.CallDenied, RequestID: id,
		Cause: fmt.Errorf("calling %q: %w (risk %s)", ask.Name, ErrApprovalRequired, ask.Risk),
	}
}

// refused is the answer of a call that was decided against, or not in time.
func refused(ask Ask, decision Decision) Result {
	fields := askFields(ask, string(decision.Outcome))
	if decision.Reason != "" {
		fields["message"] = decision.Reason
	}
	result := Result{Text: answer(fields), IsError: true, Status: messages.CallDenied, Cause: ErrDenied}
	switch decision.Outcome {
	case OutcomeCancelled:
		result.Status, result.Cause = messages.CallCancelled, ErrCancelled
	case OutcomeExpired:
		result.Cause = ErrExpired
	case OutcomeApproved, OutcomeDenied, OutcomePending:
	}
	result.Cause = fmt.Errorf("calling %q: %w by %s", ask.Name, result.Cause, decision.Who)
	return result
}

func askFields(ask Ask, status string) map[string]any {
	return map[string]any{
		"status": status, "tool": ask.Name, "source": ask.ToolID, "risk": ask.Risk, "reason": ask.Reason,
		"args_hash": ask.Fingerprint, "args_preview": ask.Preview,
	}
}

// answer is the text of an object whose members can always be encoded.
func answer(fields map[string]any) string {
	text, err := encodeJSON(fields)
	if err != nil {
		return `{"ok":false,"error":"the answer could not be encoded"}`
	}
	return string(text)
}

// bound makes the text valid UTF-8 and no longer than the limit. What is left out is in the middle, and a line in its place says how much.
func bound(result Result, limit int) Result {
	result.Text = strings.ToValidUTF8(result.Text, "\uFFFD")
	if len(result.Text) <= limit {
		return result
	}
	const lineBytes = 64 // The line that tells of the cut is shorter than this.
	head := runeStart(result.Text, (limit-lineBytes)/2)
	tail := runeStart(result.Text, len(result.Text)-(limit-lineBytes)/2)
	left := tail - head
	result.CutBytes += left
	result.Text = fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", result.Text[:head], left, result.Text[tail:])
	return result
}

// runeStart is the first place at or behind i where a character begins.
func runeStart(text string, i int) int {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}
