package plan

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// ErrTask reports a task whose number is not below the number of tasks.
var ErrTask = errors.New("no such task")

// A Task is number K of N even slices of a plan, counted from 0. The zero value is the whole plan.
type Task struct{ K, N int }

// ParseTask reads "K/N".
func ParseTask(s string) (Task, error) {
	k, n, ok := strings.Cut(s, "/")
	if ok {
		var t Task
		var err1, err2 error
		t.K, err1 = strconv.Atoi(k)
		t.N, err2 = strconv.Atoi(n)
		if err1 == nil && err2 == nil && t.N > 0 {
			return t, t.Check()
		}
	}
	return Task{}, fmt.Errorf("%w: %q is not K/N, such as 3/40", ErrTask, s)
}

func (t Task) String() string {
	if t == (Task{}) {
		return "0/1"
	}
	return fmt.Sprintf("%d/%d", t.K, t.N)
}

// Check returns an error that wraps ErrTask unless 0 ≤ K < N, or both are 0.
func (t Task) Check() error {
	if t != (Task{}) && (t.N < 1 || t.K < 0 || t.K >= t.N) {
		return fmt.Errorf("%w: %v; of N tasks the first is 0/N, the last N-1/N", ErrTask, t)
	}
	return nil
}

// holds reports whether the middle of the piece from … to of total bytes lies in the task's slice. So every
// piece belongs to one task, and slices differ from even ones by half of their first and last pieces at most.
func (t Task) holds(from, to, total int64) bool {
	return t.at(from, to, total) == max(t.K, 0)
}

// at returns the number of the task whose slice holds the middle of from and to.
func (t Task) at(from, to, total int64) int {
	middle := uint64(from) + uint64(to-from)/2
	if total <= 0 || t.N < 2 {
		return 0
	}
	hi, lo := bits.Mul64(middle, uint64(t.N))
	k, _ := bits.Div64(hi, lo, uint64(total))
	return min(int(k), t.N-1)
}

// Slice divides consecutive pieces of these sizes, in bytes, among the tasks, and returns the range of this task:
// n pieces from first. Each piece belongs to exactly one task.
func (t Task) Slice(sizes []int64) (first, n int) {
	total := int64(0)
	for _, size := range sizes {
		total += clamp(size, total)
	}
	from := int64(0)
	for i, size := range sizes {
		to := from + clamp(size, from)
		if t.holds(from, to, total) {
			if n == 0 {
				first = i
			}
			n++
		}
		from = to
	}
	return first, n
}

// clamp limits size so that before+size cannot overflow; an unknown (negative) size counts as 0.
func clamp(size, before int64) int64 { return min(max(0, size), math.MaxInt64-before) }
