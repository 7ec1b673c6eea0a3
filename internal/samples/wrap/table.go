package wrap

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
)

// keyColumns are the possible names of the column, or JSON member, with the keys, the most likely first. In CSV
// the first column may have any name.
var keyColumns = []string{"key", converters.KeyField}

// A Table holds the values of one field by key. It takes some 150 bytes of memory per row, plus keys and texts.
type Table struct {
	name   string
	field  string
	rows   map[string]int
	keys   []string
	values []converters.Value
	used   []atomic.Bool
}

// typed converts texts to integers if all are, else to numbers if all are and a float64 holds every integer
// exactly, else to text.
func typed(texts []string) []converters.Value {
	parse := []func(string) (converters.Value, error){
		func(s string) (converters.Value, error) {
			n, err := strconv.ParseInt(s, 10, 64)
			return converters.Int(n), err
		},
		func(s string) (converters.Value, error) {
			x, err := strconv.ParseFloat(s, 64)
			if n, ok := new(big.Int).SetString(s, 10); err == nil && ok {
				if _, exact := new(big.Float).SetInt(n).Float64(); exact != big.Exact {
					err = strconv.ErrRange
				}
			}
			return converters.Float(x), err
		},
		func(s string) (converters.Value, error) { return converters.Text([]byte(s)), nil },
	}
	values := make([]converters.Value, len(texts))
	for _, as := range parse {
		var err error
		for i := 0; i < len(texts) && err == nil; i++ {
			values[i], err = as(texts[i])
		}
		if err == nil {
			break
		}
	}
	return values
}

// maxLine is the longest accepted line of JSON Lines, in bytes.
const maxLine = 64 << 20

// ReadJSONL reads one member of JSON Lines: one object per line, with its key in a member of keyColumns. name is
// for errors.
func ReadJSONL(r io.Reader, name, field string) (*Table, error) {
	t := &Table{name: name, field: field, rows: make(map[string]int)}
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	line, parse := 0, jsonvalue.New(0)
	for in.Scan() {
		if line++; len(strings.TrimSpace(in.Text())) == 0 {
			continue
		}
		v, err := parse(in.Bytes())
		if err != nil {
			return nil, t.failed(line, err)
		}
		object, ok := v.Nested().(converters.Map)
		if !ok {
			return nil, t.failed(line, fmt.Errorf("%w: not an object", converters.ErrMalformed))
		}
		key, found := "", false
		for _, name := range keyColumns {
			if x, ok := member(object, name); ok && !found {
				key, found = x.(string)
			}
		}
		value, ok := member(object, field)
		if !found || !ok {
			return nil, t.failed(line, fmt.Errorf("%w: want a text in the member %q and a value in %q", converters.ErrUnsupported, keyColumns[0], field))
		}
		if err := t.addKey(key, line); err != nil {
			return nil, err
		}
		t.values = append(t.values, converters.ValueOf(value))
	}
	if err := in.Err(); err != nil {
		return nil, t.failed(line+1, err)
	}
	return t.ready(), nil
}

func member(object converters.Map, name string) (any, bool) {
	for _, p := range object {
		if p.Key == name {
			return p.Value, true
		}
	}
	return nil, false
}

func (t *Table) failed(line int, err error) error {
	return &converters.Error{Where: t.name, Off: -1, Err: fmt.Errorf("line %d: %w", line, err)}
}

func (t *Table) addKey(key string, line int) error {
	if _, twice := t.rows[key]; twice {
		return t.failed(line, fmt.Errorf("%w key %.80q", converters.ErrDuplicate, key))
	}
	t.rows[key] = len(t.keys)
	t.keys = append(t.keys, key)
	return nil
}

func (t *Table) ready() *Table {
	t.used = make([]atomic.Bool, len(t.keys))
	return t
}

func (t *Table) find(key string) (converters.Value, bool) {
	row, ok := t.rows[key]
	if !ok {
		return converters.Value{}, false
	}
	return t.values[row], true
}

// use marks the row of a key as used, and reports whether there is one.
func (t *Table) use(key string) bool {
	row, ok := t.rows[key]
	if ok {
		t.used[row].Store(true)
	}
	return ok
}

// unused returns the number of rows that no sample has used, and the key of the first.
func (t *Table) unused() (n int, first string) {
	for i := range t.used {
		if t.used[i].Load() {
			continue
		}
		if n++; n == 1 {
			first = t.keys[i]
		}
	}
	return n, first
}
