package screen

import "charm.land/lipgloss/v2"

// Styles colour what is printed. The zero value colours nothing. They keep to the sixteen colours of the terminal's own theme.
type Styles struct{ colour bool }

// NewStyles returns styles that colour, or not.
func NewStyles(colour bool) Styles { return Styles{colour: colour} }

// Bold is for names and headings.
func (s Styles) Bold(text string) string { return s.render(lipgloss.NewStyle().Bold(true), text) }

// Dim is for what can be passed over.
func (s Styles) Dim(text string) string { return s.render(lipgloss.NewStyle().Faint(true), text) }

// User is for the person's words.
func (s Styles) User(text string) string {
	return s.render(lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Blue), text)
}

// Agent is for the agent's words.
func (s Styles) Agent(text string) string {
	return s.render(lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Green), text)
}

// Tool is for tools.
func (s Styles) Tool(text string) string {
	return s.render(lipgloss.NewStyle().Foreground(lipgloss.Cyan), text)
}

// Warn is for what needs a person.
func (s Styles) Warn(text string) string {
	return s.render(lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Yellow), text)
}

// Fail is for errors.
func (s Styles) Fail(text string) string {
	return s.render(lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red), text)
}

// render styles one line. Text of several lines would be padded by lipgloss, so rows are styled one by one.
func (s Styles) render(style lipgloss.Style, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return style.Render(text)
}
