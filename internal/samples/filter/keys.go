package filter

import (
	"strings"
	"sync"
)

// keys are the keys of the samples that a process has received and not answered.
type keys struct {
	mu   sync.Mutex
	all  []string
	next int // index of the first without an answer
}

func (k *keys) push(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.next > 0 && k.next >= len(k.all)/2 {
		k.all = k.all[:copy(k.all, k.all[k.next:])]
		k.next = 0
	}
	k.all = append(k.all, strings.Clone(key))
}

// first returns the key of the first sample without an answer; false if all have one.
func (k *keys) first() (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.next == len(k.all) {
		return "", false
	}
	return k.all[k.next], true
}

// oldest returns the key that first returns, or "".
func (k *keys) oldest() string {
	key, _ := k.first()
	return key
}

// pop removes the first sample, which has its answer.
func (k *keys) pop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[k.next] = ""
	k.next++
}
