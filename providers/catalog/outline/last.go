package outline

// Last is a text of which the last one in the file counts. The zero value is none.
type Last struct {
	// Text is it. An empty one that was set takes an earlier one away.
	Text    string
	settled bool
}

// Last sets a field of which the last value in the file counts. An empty value is one too: ask before, where it is none.
func (o *Outline) Last(field *Last, value string) {
	if o.back && field.settled {
		return
	}
	field.Text, field.settled = value, o.back
}
