package export

import (
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
)

// A fileWriter makes the contents of files. It is for one goroutine.
type fileWriter struct {
	buf []byte // of values that are neither bytes nor text
}

// content returns the content of the file of a field. It is valid until the next call.
func (w *fileWriter) content(f *converters.Field) (converters.Value, error) {
	kind := f.Value.Kind()
	if kind == converters.KindBytes {
		return f.Value, nil
	}
	var err error
	b := w.buf[:0]
	switch suffix := strings.ToLower(f.Name[strings.LastIndexByte(f.Name, '.')+1:]); {
	case suffix == "mp" || suffix == "msgpack":
		b, err = encode.AppendValue(b, "msgpack", encode.Any(&f.Value))
	case suffix == "cbor":
		b, err = encode.AppendValue(b, "cbor", encode.Any(&f.Value))
	case kind == converters.KindText:
		return f.Value, nil
	case kind == converters.KindFloat && suffix != "json":
		b = jsonvalue.AppendFloat(b, f.Value.Float())
	default:
		b, err = jsonvalue.AppendPlain(b, &f.Value)
	}
	w.buf = b
	return converters.Bytes(b), err
}
