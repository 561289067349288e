package process

import "golang.org/x/sys/unix"

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// processTable asks the kernel for all processes. It does not tell sessions, so a group made by job control is found by
// descent only.
func processTable() ([]row, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	table := make([]row, 0, len(all))
	for i := range all {
		table = append(table, rowOf(&all[i]))
	}
	return table, nil
}

func rowOf(k *unix.KinfoProc) row {
	return row{
		pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), pgrp: int(k.Eproc.Pgid),
		start: k.Proc.P_starttime.Nano(), dead: k.Proc.P_stat == zombie,
	}
}

func startOf(pid int) (int64, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, false
	}
	return rowOf(k).start, true
}
