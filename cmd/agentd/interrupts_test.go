package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestInterrupts presses Ctrl-C: after so many milliseconds of the test, with or without something that handles it.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	const gap = 2 * sameSignal
	for _, test := range []struct {
		name    string
		presses []time.Duration
		handled bool
		want    []string
	}{
		{"once", []time.Duration{0}, false, []string{"cancel"}},
		{"twice by a program", []time.Duration{0, 0}, false, []string{"cancel"}},
		{"twice by a program, late", []time.Duration{0, sameSignal - 1}, false, []string{"cancel"}},
		{"twice by a person", []time.Duration{0, sameSignal}, false, []string{"cancel", "quit"}},
		{"once, handled", []time.Duration{0}, true, []string{"handled"}},
		{"twice by a program, handled", []time.Duration{0, 0}, true, []string{"handled"}},
		{"twice by a person, handled", []time.Duration{0, gap}, true, []string{"handled", "quit"}},
		{"twice by a person and a program", []time.Duration{0, 0, gap, gap}, true, []string{"handled", "quit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				presses := make(chan os.Signal, 2)
				var got []string
				p := &program{presses: presses, quit: func(int) { got = append(got, "quit") }}
				i := newInterrupts(p, func(cause error) {
					if !errors.Is(cause, errInterrupted) {
						t.Errorf("the cause is %v, want %v", cause, errInterrupted)
					}
					got = append(got, "cancel")
				})
				done := make(chan struct{})
				go i.watch(done)
				if test.handled {
					defer i.during(func() { got = append(got, "handled") })()
				}
				begun := time.Now()
				for _, at := range test.presses {
					<-time.After(at - time.Since(begun))
					presses <- os.Interrupt
					synctest.Wait()
				}
				close(done)
				synctest.Wait()
				if !slices.Equal(got, test.want) {
					t.Errorf("it did %q, want %q", got, test.want)
				}
			})
		})
	}
}

// A turn that ends between the two of one Ctrl-C does not make a second one of it.
func TestInterruptsAcrossHandlers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		i := newInterrupts(&program{quit: func(int) { t.Error("it quits") }}, cancel)
		handled := 0
		release := i.during(func() { handled++ })
		i.press()
		release()
		i.press()
		if handled != 1 || ctx.Err() != nil {
			t.Errorf("the turn was told %d times, and the program is ended: %v", handled, context.Cause(ctx))
		}
		<-time.After(sameSignal)
		i.press()
		if !errors.Is(context.Cause(ctx), errInterrupted) {
			t.Errorf("a later Ctrl-C ended the program with %v, want %v", context.Cause(ctx), errInterrupted)
		}
	})
}
