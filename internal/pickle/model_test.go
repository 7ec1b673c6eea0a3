package pickle

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
)

// A modelClass is collections.OrderedDict itself.
type modelClass struct{}

// A modelMark is on the stack where ( was.
type modelMark struct{}

// A modelDict is a dict or an OrderedDict.
type modelDict struct {
	keys   []string
	values map[string]any
}

func (d *modelDict) set(key, value any) {
	k := key.(string)
	if _, ok := d.values[k]; !ok {
		d.keys = append(d.keys, k)
	}
	d.values[k] = value
}

// model is a naive unpickler, written from pickletools and sharing nothing with the code
// under test: a stack and a memo of any values, no limits, no rules but Python's. What it
// cannot do panics. It is the oracle for pickles that DecodeDict accepts.
func model(s string) (result any) {
	var stack []any
	memo := make(map[int]any)
	pop := func() any {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		return v
	}
	take := func(n int) string {
		b := s[:n]
		s = s[n:]
		return b
	}
	size := func(n int) int {
		return int(binary.LittleEndian.Uint64([]byte(take(n) + "\x00\x00\x00\x00\x00\x00\x00\x00")))
	}
	line := func() string {
		b, rest, _ := strings.Cut(s, "\n")
		s = rest
		return b
	}
	class := func(from, name any) any {
		if from != "collections" || name != "OrderedDict" {
			panic("another class")
		}
		return modelClass{}
	}
	for {
		switch op := take(1)[0]; op {
		case 0x80:
			take(1)
		case 0x95:
			take(8)
		case '.':
			return pop()
		case '(':
			stack = append(stack, modelMark{})
		case 0x8c:
			stack = append(stack, take(size(1)))
		case 'X':
			stack = append(stack, take(size(4)))
		case 0x8d:
			stack = append(stack, take(size(8)))
		case 'K':
			stack = append(stack, big.NewInt(int64(size(1))))
		case 'M':
			stack = append(stack, big.NewInt(int64(size(2))))
		case 'J':
			stack = append(stack, big.NewInt(int64(int32(size(4)))))
		case 0x8a:
			b := take(size(1))
			n := new(big.Int)
			for i := len(b) - 1; i >= 0; i-- {
				n.Or(n.Lsh(n, 8), big.NewInt(int64(b[i])))
			}
			if len(b) > 0 && b[len(b)-1] >= 0x80 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
			stack = append(stack, n)
		case '}':
			stack = append(stack, &modelDict{values: make(map[string]any)})
		case ')':
			stack = append(stack, []any{})
		case 'c':
			from := line()
			stack = append(stack, class(from, line()))
		case 0x93:
			name := pop()
			stack = append(stack, class(pop(), name))
		case 'R':
			if args := pop().([]any); len(args) > 0 {
				panic("arguments")
			}
			_ = pop().(modelClass)
			stack = append(stack, &modelDict{values: make(map[string]any)})
		case 's':
			v, k := pop(), pop()
			stack[len(stack)-1].(*modelDict).set(k, v)
		case 'u':
			at := len(stack) - 1
			for stack[at] != (modelMark{}) {
				at--
			}
			for i := at + 1; i < len(stack); i += 2 {
				stack[at-1].(*modelDict).set(stack[i], stack[i+1])
			}
			stack = stack[:at]
		case 0x94:
			memo[len(memo)] = stack[len(stack)-1]
		case 'q':
			memo[size(1)] = stack[len(stack)-1]
		case 'r':
			memo[size(4)] = stack[len(stack)-1]
		case 'h':
			stack = append(stack, memo[size(1)])
		case 'j':
			stack = append(stack, memo[size(4)])
		default:
			panic(fmt.Sprintf("opcode %#02x", op))
		}
	}
}

// modelLine is what line makes of a Dict.
func modelLine(d *modelDict) string {
	var words []string
	for _, k := range d.keys {
		switch v := d.values[k].(type) {
		case *modelDict:
			words = append(words, k+":"+modelLine(v))
		case *big.Int:
			words = append(words, k+":"+v.String())
		default:
			panic("another value")
		}
	}
	return "{" + strings.Join(words, " ") + "}"
}
