package process

import (
	"slices"
	"testing"
)

func TestCensus(t *testing.T) {
	t.Parallel()
	const root = 100
	tests := []struct {
		name   string
		known  map[int]int64
		marked []int
		table  []row
		want   []int
	}{
		{name: "alone", table: []row{{pid: root, ppid: 7, pgrp: root, start: 10}}, want: []int{root}},
		{name: "zombie root is not living", table: []row{{pid: root, ppid: 7, pgrp: root, start: 10, dead: true}}},
		{
			name:  "group, session and descent in any order",
			table: []row{{pid: 5, ppid: 4, start: 12}, {pid: 4, ppid: 3, start: 11}, {pid: 3, ppid: root, start: 11}, {pid: root, start: 10}, {pid: 2, ppid: 1, pgrp: root, start: 11}, {pid: 6, ppid: 1, pgrp: 6, session: root, start: 11}},
			want:  []int{5, 4, 3, root, 2, 6},
		},
		{name: "marker", marked: []int{8}, table: []row{{pid: 8, ppid: 1, start: 11}, {pid: 9, ppid: 1, start: 11}}, want: []int{8}},
		{name: "older than the root is a stranger", marked: []int{8}, table: []row{{pid: 8, ppid: root, pgrp: root, start: 9}, {pid: root, start: 10}}, want: []int{root}},
		{name: "remembered after its parent died", known: map[int]int64{8: 11}, table: []row{{pid: 8, ppid: 1, start: 11}, {pid: 9, ppid: 8, start: 12}}, want: []int{8, 9}},
		{name: "number given to a stranger", known: map[int]int64{8: 11}, table: []row{{pid: 8, ppid: 1, start: 20}, {pid: 9, ppid: 8, start: 21}}},
		{name: "root's number given to a stranger", table: []row{{pid: root, ppid: 1, pgrp: 1, start: 20}, {pid: 9, ppid: root, start: 21}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCensus(root, 10, func(pid int) bool { return slices.Contains(tt.marked, pid) })
			for pid, start := range tt.known {
				c.known[pid] = start
			}
			var got []int
			for _, r := range c.members(tt.table) {
				got = append(got, r.pid)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("members() = %v, want %v", got, tt.want)
			}
		})
	}
}
