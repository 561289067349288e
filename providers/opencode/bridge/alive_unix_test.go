//go:build unix

package bridge_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// alive reports whether a process exists and is more than a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) {
		_, noProc := os.Stat("/proc/self/stat")
		return noProc != nil
	}
	return err != nil || !strings.Contains(string(stat[strings.LastIndexByte(string(stat), ')'):]), ") Z")
}
