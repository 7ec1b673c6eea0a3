package filter

import (
	"strings"
	"sync"
)

// keys are the keys of samples that a process was given and has not answered yet.
type keys struct {
	mu      sync.Mutex
	all     []string
	first   int    // of all, the first without an answer
	current string // that was taken last
}

func (k *keys) push(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.first > 0 && k.first >= len(k.all)/2 {
		k.all = k.all[:copy(k.all, k.all[k.first:])]
		k.first = 0
	}
	k.all = append(k.all, strings.Clone(key))
}

// pop takes the key of the next sample; false: all have answers.
func (k *keys) pop() (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.first == len(k.all) {
		return "", false
	}
	k.current = k.all[k.first]
	k.all[k.first] = ""
	k.first++
	return k.current, true
}
