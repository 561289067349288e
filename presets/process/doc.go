// Package process owns a child process and everything that it starts: pipes, bounded output, and an end that
// really is one.
//
// The shell preset runs commands with it, the provider packages run servers and command line agents with it. It
// stands under presets because presets must not import providers (see docs/adr/0003-process-under-presets.md).
//
// # Promises
//
//   - The life of the tree is the life of the child. When the child exits, by itself or because it was stopped,
//     everything left of its tree is killed before [Process.Done] closes. Nothing is orphaned on purpose.
//   - The tree is: the child's process group, its whole session (so job-control groups count), every descendant, and
//     on Linux every process that carries the child's marker in its environment ([MarkerEnv]), which finds daemons
//     that called setsid and were adopted by init. On macOS the marker is not read; on Windows the tree is a job object.
//   - [Process.Stop] climbs a ladder: close stdin (if asked to), SIGTERM to the tree, SIGKILL to the tree, each rung
//     only as long as [Options] says. With the default options a tree that ignores everything is gone in less than
//     one second. Stop and [Process.Kill] may be called by anyone, any number of times, at the same time.
//   - A context that ends stops the waiting of Stop, never the stopping.
//   - Nothing is signalled by a number that may belong to somebody else: on Linux the child is kept unreaped until its
//     group is empty, and a stray is signalled through a handle after its start time was compared.
//   - If this process dies, the kernel kills the child at once (Linux; on Windows the job does it for the whole tree).
//   - Memory is bounded: [Capture] keeps the head and the tail of an output and says what it left out, [Lines] cuts a
//     line that is too long and says so. A writer that fails does not block the child: the rest is read and dropped.
//   - What could not be ended (a process in the kernel's uninterruptible sleep, or of another user) is named in
//     [Exit.Survivors] and reported as [ErrSurvivors], after [Options.KillWait]. Nothing waits for ever, unless a writer of [Params] never returns.
//   - The child's environment is exactly [Params.Env] and the marker. Nothing is inherited by accident.
//
// A descendant that leaves the session, clears its environment and is adopted by init before anything looks cannot be
// found; containers are the answer to that, not this package.
package process
