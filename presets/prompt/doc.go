// Package prompt helps agents to put a system prompt together: enrichers that tell what is going on, a list of the
// active presets, named blocks, and templates. Agents use what they like of it; it owns no provider behaviour.
//
// # Promises
//
//   - The same input gives the same text. Enrichers run in the order in which they were first registered; replacing one keeps its place.
//   - A failing or panicking enricher fails the whole, with an error that names it. No text is left out in silence.
//   - There is no global state: [Enrichers] is a value of the host.
//   - [Enrichers] is safe for use by several goroutines. Only [Enrichers.Format] may block, as long as its enrichers do.
//
// # Example
//
//	var enrichers prompt.Enrichers
//	enrichers.Register("clock", func(ctx context.Context, subject prompt.Subject) (string, error) {
//		return "It is noon.", nil
//	})
//	about, err := enrichers.Format(ctx, subject)
//	text := prompt.AssembleBlocks([]prompt.Block{
//		{Name: "Instructions", Content: "You are Space Agent."},
//		{Name: "Context", Content: about},
//		{Name: "Available Capabilities", Content: prompt.FormatPresets(view.Resolve().Presets)},
//	})
package prompt
