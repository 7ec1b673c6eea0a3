package input

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// The slow model of a pattern, for FuzzExpand: it rewrites text from left to right, keeps
// all names at every step, has no limits, and shares nothing with Expand but testEnv.

// A letter is a byte of a pattern; a backslash before it makes it literal.
type letter struct {
	c       byte
	literal bool
}

var (
	modelVariable = regexp.MustCompile(`(?s)\\.|\$\{[0-9A-Za-z_]+\}`)
	modelNumbers  = regexp.MustCompile(`^(-?[0-9]+)\.\.(-?[0-9]+)(?:\.\.-?([0-9]+))?$`)
	modelLetters  = regexp.MustCompile(`^([A-Za-z])\.\.([A-Za-z])(?:\.\.-?([0-9]+))?$`)
)

// model is what a pattern stands for; false where it stands for nothing. It takes for ever
// where that is too much.
func model(pattern string) (names []string, ok bool) {
	pieces, ok := modelPieces(pattern)
	for _, piece := range pieces {
		some, balanced := modelProduct(piece)
		names, ok = append(names, some...), ok && balanced
	}
	return names, ok
}

// modelBalanced reports whether every brace has its other one.
func modelBalanced(pattern string) bool {
	pieces, _ := modelPieces(pattern)
	for _, piece := range pieces {
		depth := 0
		for _, l := range piece {
			switch l {
			case letter{c: '{'}:
				depth++
			case letter{c: '}'}:
				depth--
			}
			if depth < 0 {
				return false
			}
		}
		if depth > 0 {
			return false
		}
	}
	return true
}

// modelPieces puts variables in and cuts at "::"; false where a variable is not set.
func modelPieces(pattern string) (pieces [][]letter, ok bool) {
	ok = true
	all := modelText(modelVariable.ReplaceAllStringFunc(pattern, func(s string) string {
		if s[0] == '\\' {
			return s
		}
		value, known := testEnv("WDS_" + s[2:len(s)-1])
		ok = ok && known
		return value
	}))
	start := 0
	for i := 0; i+1 < len(all); i++ {
		if all[i] == (letter{c: ':'}) && all[i+1] == (letter{c: ':'}) {
			pieces = append(pieces, all[start:i])
			i++
			start = i + 1
		}
	}
	return append(pieces, all[start:]), ok
}

func modelText(s string) (all []letter) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			all = append(all, letter{c: s[i]})
		case i+1 == len(s):
			all = append(all, letter{s[i], true})
		case s[i+1] == '\n':
			all = append(all, letter{s[i], true}, letter{'\n', true})
			i++
		default:
			i++
			all = append(all, letter{s[i], true})
		}
	}
	return all
}

// modelProduct is each of the first expression's texts before each name of what follows.
func modelProduct(all []letter) (names []string, ok bool) {
	head := ""
	for i, l := range all {
		var first []string
		rest := i + 1
		switch (letter{l.c, l.literal}) {
		case letter{c: '}'}:
			return nil, false
		case letter{c: '{'}:
			depth := 0
			for rest = i; rest < len(all); rest++ {
				if all[rest] == (letter{c: '{'}) {
					depth++
				} else if all[rest] == (letter{c: '}'}) {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if rest == len(all) {
				return nil, false
			}
			if first, ok = modelChoice(all[i+1 : rest]); !ok {
				return nil, false
			}
			rest++
		case letter{c: '<'}:
			for rest < len(all) && all[rest] != (letter{c: '>'}) {
				rest++
			}
			if rest == len(all) {
				break
			}
			first = modelRange(all[i+1 : rest])
			rest++
		}
		if first == nil {
			head += string([]byte{l.c})
			continue
		}
		last, ok := modelProduct(all[rest:])
		if !ok {
			return nil, false
		}
		for _, a := range first {
			for _, b := range last {
				names = append(names, head+a+b)
			}
		}
		return names, true
	}
	return []string{head}, true
}

// modelChoice is what stands between two braces.
func modelChoice(all []letter) (names []string, ok bool) {
	if names = modelRange(all); names != nil {
		return names, true
	}
	depth, start, commas := 0, 0, 0
	for i := 0; i <= len(all); i++ {
		if i < len(all) {
			switch all[i] {
			case letter{c: '{'}:
				depth++
			case letter{c: '}'}:
				depth--
			}
			if depth > 0 || all[i] != (letter{c: ','}) {
				continue
			}
			commas++
		}
		some, ok := modelProduct(all[start:i])
		if !ok {
			return nil, false
		}
		names = append(names, some...)
		start = i + 1
	}
	if commas == 0 {
		for i := range names {
			names[i] = "{" + names[i] + "}"
		}
	}
	return names, true
}

// modelRange is nil for what is none. Its bounds are numbers of any size.
func modelRange(all []letter) (names []string) {
	var b strings.Builder
	for _, l := range all {
		if l.literal {
			return nil
		}
		b.WriteByte(l.c)
	}
	step := func(digits string) *big.Int {
		n, ok := new(big.Int).SetString(digits, 10)
		if !ok || n.Sign() == 0 {
			return big.NewInt(1)
		}
		return n
	}
	if m := modelLetters.FindStringSubmatch(b.String()); m != nil {
		const order = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		from, to := int64(strings.Index(order, m[1])), int64(strings.Index(order, m[2]))
		modelSteps(big.NewInt(from), big.NewInt(to), step(m[3]), func(n *big.Int) {
			names = append(names, order[n.Int64():][:1])
		})
		return names
	}
	m := modelNumbers.FindStringSubmatch(b.String())
	if m == nil {
		return nil
	}
	width := 0
	for _, s := range m[1:3] {
		if digits := strings.TrimPrefix(s, "-"); digits[0] == '0' && digits != "0" {
			width = max(len(m[1]), len(m[2]))
		}
	}
	from, _ := new(big.Int).SetString(m[1], 10)
	to, _ := new(big.Int).SetString(m[2], 10)
	modelSteps(from, to, step(m[3]), func(n *big.Int) { names = append(names, fmt.Sprintf("%0*d", width, n)) })
	return names
}

func modelSteps(from, to, step *big.Int, yield func(*big.Int)) {
	down := from.Cmp(to) > 0
	if down {
		step = new(big.Int).Neg(step)
	}
	for n := from; n.Cmp(to) == 0 || down == (n.Cmp(to) > 0); n = new(big.Int).Add(n, step) {
		yield(n)
	}
}
