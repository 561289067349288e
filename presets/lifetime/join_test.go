package lifetime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"agentd/presets/lifetime"
)

var (
	errRequest = errors.New("the request has gone")
	errTurn    = errors.New("the turn has ended")
)

type key struct{}

func TestJoinEndsWithTheFirst(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		end  func(request, turn context.CancelCauseFunc, release func())
		want error
	}{
		{"nothing", func(_, _ context.CancelCauseFunc, _ func()) {}, nil},
		{"the first", func(request, _ context.CancelCauseFunc, _ func()) { request(errRequest) }, errRequest},
		{"the other", func(_, turn context.CancelCauseFunc, _ func()) { turn(errTurn) }, errTurn},
		{"the other, then the first", func(request, turn context.CancelCauseFunc, _ func()) {
			turn(errTurn)
			synctest.Wait()
			request(errRequest)
		}, errTurn},
		{"release", func(_, _ context.CancelCauseFunc, release func()) { release() }, context.Canceled},
		{"release, then the other", func(_, turn context.CancelCauseFunc, release func()) {
			release()
			release()
			turn(errTurn)
		}, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // Its bubble fails if a goroutine is left.
				request, endRequest := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
				turn, endTurn := context.WithCancelCause(t.Context())
				defer endRequest(nil)
				defer endTurn(nil)
				ctx, release := lifetime.Join(request, turn)
				defer release()
				test.end(endRequest, endTurn, release)
				synctest.Wait()
				if got := context.Cause(ctx); !errors.Is(got, test.want) || (got == nil) != (ctx.Err() == nil) {
					t.Errorf("Cause() = %v, want %v", got, test.want)
				}
				if got := ctx.Value(key{}); got != "value" {
					t.Errorf("Value() = %v, want that of the first context", got)
				}
			})
		})
	}
}

func TestJoinOfAnEndedLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn, endTurn := context.WithTimeoutCause(t.Context(), time.Second, errTurn)
		defer endTurn()
		<-turn.Done()
		ctx, release := lifetime.Join(t.Context(), turn)
		defer release()
		<-ctx.Done()
		if got := context.Cause(ctx); !errors.Is(got, errTurn) {
			t.Errorf("Cause() = %v, want %v", got, errTurn)
		}
	})
}

func ExampleJoin() {
	turn, end := context.WithCancelCause(context.Background())
	ctx, release := lifetime.Join(context.Background(), turn)
	defer release()
	end(errors.New("the turn has ended"))
	<-ctx.Done()
	fmt.Println(context.Cause(ctx))
	// Output: the turn has ended
}
