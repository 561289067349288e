package ohmypi

import (
	"context"
	"iter"

	"agentd/providers/catalog"
	"agentd/providers/catalog/pi"
)

// Reader reads the store of Oh My Pi. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.OhMyPi }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	return []catalog.Root{{Path: env.InHome(".omp", "agent", "sessions")}}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	depth := 2
	if d.NonInteractive {
		depth = 6
	}
	found, err := pi.Transcripts(ctx, d, root, depth)
	for _, u := range pi.OfID(found, d.Exact) {
		d.Add(u)
	}
	return err
}

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	s, ok, err := pi.ParseTranscript(p, pi.Dialect{})
	if err != nil || !ok {
		return err
	}
	if p.Unit.Kind == pi.KindNested {
		pi.SubAgent(&s, p.Unit.Path)
	}
	p.Emit(s)
	return nil
}

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader].
func (Reader) Launch(_ catalog.Env, s *catalog.Session) catalog.Launch {
	return catalog.Launch{Args: []string{"--resume", s.ID}}
}

// Records implements [catalog.ContentReader].
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return pi.Records(ctx, req)
}
