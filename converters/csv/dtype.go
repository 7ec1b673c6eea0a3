package csv

import (
	"fmt"
	"slices"
	"strings"
)

// parseDTypes parses Options.DType: fixed has the types of single columns, all is the type of all columns.
func parseDTypes(dtype string) (fixed map[string]kind, all kind, err error) {
	if dtype == "" {
		return nil, unknown, nil
	}
	if !strings.Contains(dtype, "=") {
		if all = parseKind(dtype); !all.isNumber() {
			return nil, unknown, fmt.Errorf("dtype %q: want float64, float32 or int64, or NAME=TYPE,…", dtype)
		}
		return nil, all, nil
	}
	fixed = make(map[string]kind)
	for pair := range strings.SplitSeq(dtype, ",") {
		at := strings.LastIndexByte(pair, '=')
		if at < 0 {
			return nil, unknown, fmt.Errorf("dtype %q: %q is not NAME=TYPE", dtype, pair)
		}
		name, k := pair[:at], parseKind(pair[at+1:])
		if k == unknown {
			return nil, unknown, fmt.Errorf("dtype %q: %q is none of int64, float64, float32, bool, str", dtype, pair[at+1:])
		}
		if _, again := fixed[name]; again {
			return nil, unknown, fmt.Errorf("dtype %q: %q has two types", dtype, name)
		}
		fixed[name] = k
	}
	return fixed, unknown, nil
}

func parseKind(name string) kind {
	if name == "" {
		return unknown
	}
	return kind(max(0, slices.Index(kindNames[:], name)))
}
