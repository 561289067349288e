package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// maxJobPIDs bounds how many members of a job are listed.
const maxJobPIDs = 4096

// tree is a job object: whatever its members start is a member too, and closing it kills them all.
type tree struct {
	root uint32

	jobMu sync.Mutex
	job   windows.Handle // zero once closed
}

// newTree needs no mark: a job cannot be left.
func newTree(string) *tree { return &tree{} }

// configure starts the child suspended, so that it is in the job before it can start anything, and in a console group of
// its own, so that a break reaches it alone.
func (t *tree) configure(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
		HideWindow:    true,
	}
}

func (t *tree) adopt(p *os.Process) error {
	t.root = uint32(p.Pid)
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("making a job object: %w", err)
	}
	if err := fillJob(job, t.root); err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	t.job = job
	return nil
}

func fillJob(job windows.Handle, pid uint32) error {
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return fmt.Errorf("limiting the job object: %w", err)
	}
	child, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return fmt.Errorf("opening the child: %w", err)
	}
	defer func() { _ = windows.CloseHandle(child) }()
	if err := windows.AssignProcessToJobObject(job, child); err != nil {
		return fmt.Errorf("putting the child into its job object: %w", err)
	}
	return resume(pid)
}

// resume starts the threads of a process that was made suspended; there is one.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	resumed := false
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		if err := resumeThread(entry.ThreadID); err != nil {
			return err
		}
		resumed = true
	}
	if !resumed {
		return fmt.Errorf("resuming the child: no thread found: %w", err)
	}
	return nil
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return fmt.Errorf("opening the child's thread: %w", err)
	}
	defer func() { _ = windows.CloseHandle(thread) }()
	if _, err := windows.ResumeThread(thread); err != nil {
		return fmt.Errorf("resuming the child: %w", err)
	}
	return nil
}

func (t *tree) await(cmd *exec.Cmd) { _ = cmd.Wait() }

func (t *tree) reap(*exec.Cmd) {}

// close lets the job go, which kills whatever is left in it.
func (t *tree) close() {
	t.jobMu.Lock()
	defer t.jobMu.Unlock()
	if t.job != 0 {
		_ = windows.CloseHandle(t.job)
		t.job = 0
	}
}

// jobPIDs is JOBOBJECT_BASIC_PROCESS_ID_LIST with room.
type jobPIDs struct {
	assigned, listed uint32
	pids             [maxJobPIDs]uintptr
}

// look returns the ids of the living members.
func (t *tree) look() []int {
	t.jobMu.Lock()
	defer t.jobMu.Unlock()
	if t.job == 0 {
		return nil
	}
	list := new(jobPIDs)
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(list)), uint32(unsafe.Sizeof(*list)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return []int{int(t.root)}
	}
	pids := make([]int, 0, list.listed)
	for _, pid := range list.pids[:min(list.listed, maxJobPIDs)] {
		pids = append(pids, int(pid))
	}
	return pids
}

func (t *tree) interrupt() error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, t.root)
}

// terminate sends a console break, the nearest thing to SIGTERM; a program without a console does not get it and is
// killed after the grace.
func (t *tree) terminate() { _ = t.interrupt() }

func (t *tree) kill() {
	t.jobMu.Lock()
	defer t.jobMu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
	}
}

func status(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	return state.ExitCode(), ""
}
