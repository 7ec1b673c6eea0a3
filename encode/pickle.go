package encode

import (
	"fmt"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/pickle"
)

func openTuple() Form { return encodeTuple }

// encodeTuple writes the values of the fields, in their order, as a Python tuple. It has neither their names nor the key.
func encodeTuple(b *Builder, s *converters.Sample) error {
	b.Written = pickle.BeginTuple(pickle.Begin(b.Written), len(s.Fields))
	for i := range s.Fields {
		if err := pickleForm.value(b, &s.Fields[i].Value); err != nil {
			return fmt.Errorf("field %q: %w", s.Fields[i].Name, err)
		}
	}
	b.Written = append(pickle.EndTuple(b.Written, len(s.Fields)), pickle.Stop)
	return nil
}

// pickleSyntax writes protocol 4. It uses only opcodes that push data or store it in a list or a
// dict, and none that imports or calls anything.
func pickleSyntax(b []byte, t token, n uint64) []byte {
	switch t {
	case tokenBegin:
		return pickle.Begin(b)
	case tokenEnd:
		return append(b, pickle.Stop)
	case tokenNull:
		return append(b, pickle.None)
	case tokenFalse, tokenTrue:
		return pickle.AppendBool(b, t == tokenTrue)
	case tokenInt:
		return pickle.AppendInt(b, int64(n))
	case tokenUint:
		return pickle.AppendUint(b, n)
	case tokenFloat:
		return pickle.AppendFloat(b, math.Float64frombits(n))
	case tokenText:
		return pickle.AppendTextHead(b, int64(n))
	case tokenBytes:
		return pickle.AppendBytesHead(b, int64(n))
	case tokenList:
		return append(b, pickle.EmptyList, pickle.Mark)
	case tokenListEnd:
		return append(b, pickle.Appends)
	case tokenMap:
		return append(b, pickle.EmptyDict, pickle.Mark)
	case tokenMapEnd:
		return append(b, pickle.SetItems)
	}
	return b
}
