package export

import (
	"bytes"
	"compress/gzip"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
)

// A fileWriter converts fields to contents of files. It is for one goroutine.
type fileWriter struct {
	buf []byte // for values that are neither bytes nor text
}

// content returns the content of the file of a field. It is valid until the next call.
func (w *fileWriter) content(f *converters.Field) (converters.Value, error) {
	kind := f.Value.Kind()
	if kind == converters.KindBytes {
		return f.Value, nil
	}
	var err error
	b, arrays := w.buf[:0], false
	name, compressed := decode.CutGzip(f.Name)
	suffix := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if suffix == "ten" || suffix == "tb" {
		b, arrays = decode.AppendTenbin(b, f.Value.Any())
	}
	switch {
	case arrays:
	case suffix == "mp" || suffix == "msgpack" || suffix == "msg":
		b, err = encode.AppendValue(b, "msgpack", f.Value.Any())
	case suffix == "cbor":
		b, err = encode.AppendValue(b, "cbor", f.Value.Any())
	case kind == converters.KindText && !compressed:
		return f.Value, nil
	case kind == converters.KindText:
		b = append(b, f.Value.Data()...)
	case kind == converters.KindFloat && suffix != "json" && suffix != "jsn":
		b = jsonvalue.AppendFloat(b, f.Value.Float())
	default:
		b, err = jsonvalue.AppendPlain(b, &f.Value)
	}
	w.buf = b
	if compressed && err == nil {
		var out bytes.Buffer
		z := gzip.NewWriter(&out) // without a name or a time
		z.Write(b)                // a Buffer returns no error
		z.Close()
		b = out.Bytes()
	}
	return converters.Bytes(b), err
}
