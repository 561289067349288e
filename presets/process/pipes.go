package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// pipes are the parent's ends of the child's standard streams, and the readers of two of them.
type pipes struct {
	stdin   *os.File   // nil without Params.OpenStdin
	child   []*os.File // ends that belong to the child, closed here once it runs
	streams []*stream  // what is read
}

// stream is one pipe that is read and where its bytes go.
type stream struct {
	read *os.File
	sink io.Writer
	done chan struct{} // closed when its reader has ended
	err  error         // written by its reader, read after done
}

// openPipes makes the pipes that params ask for and ties their far ends to cmd.
func openPipes(cmd *exec.Cmd, params Params) (*pipes, error) {
	p := &pipes{}
	if params.OpenStdin {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("making the stdin pipe: %w", err)
		}
		p.stdin, p.child, cmd.Stdin = w, append(p.child, r), r
	}
	var err error
	if params.Stdout != nil {
		if cmd.Stdout, err = p.output(params.Stdout); err != nil {
			p.closeAll()
			return nil, err
		}
	}
	switch {
	case params.Stderr == nil:
	case sameWriter(params.Stdout, params.Stderr):
		cmd.Stderr = cmd.Stdout
	default:
		if cmd.Stderr, err = p.output(params.Stderr); err != nil {
			p.closeAll()
			return nil, err
		}
	}
	return p, nil
}

func (p *pipes) output(sink io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making an output pipe: %w", err)
	}
	p.child = append(p.child, w)
	p.streams = append(p.streams, &stream{read: r, sink: sink, done: make(chan struct{})})
	return w, nil
}

// sameWriter compares without the panic that == has for a type that cannot be compared; two such writers are different.
func sameWriter(a, b io.Writer) bool {
	defer func() { _ = recover() }()
	return a == b
}

func (p *pipes) closeChild() {
	for _, f := range p.child {
		_ = f.Close()
	}
	p.child = nil
}

func (p *pipes) closeStdin() {
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
}

func (p *pipes) closeAll() {
	p.closeChild()
	p.closeStdin()
	for _, s := range p.streams {
		_ = s.read.Close()
	}
}

// pump reads the stream to its end. After an error of the sink it goes on reading, so that the child never blocks on a
// full pipe or dies of a broken one.
func (s *stream) pump() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.read.Read(buf)
		if n > 0 && s.err == nil {
			if _, werr := s.sink.Write(buf[:n]); werr != nil {
				s.err = fmt.Errorf("writing output of the process: %w", werr)
			}
		}
		if err == nil {
			continue
		}
		if s.err == nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
			s.err = fmt.Errorf("reading output of the process: %w", err)
		}
		break
	}
	if f, ok := s.sink.(interface{ Flush() error }); ok {
		if err := f.Flush(); err != nil && s.err == nil {
			s.err = fmt.Errorf("flushing output of the process: %w", err)
		}
	}
}
