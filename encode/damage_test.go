package encode

import (
	"errors"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/picture/picturetest"
)

// Damage is looked for in the fields of a record, by their names before they are renamed, where their bytes are known.
func TestDamaged(t *testing.T) {
	t.Parallel()
	whole := picturetest.JPEG(picturetest.Picture())
	cut := whole[:len(whole)-2]
	sample := func(fields ...any) *converters.Sample {
		s := &converters.Sample{Key: "k"}
		for i := 0; i < len(fields); i += 2 {
			f := converters.Field{Name: fields[i].(string)}
			switch v := fields[i+1].(type) {
			case []byte:
				f.Value = converters.Bytes(v)
			case string:
				f.Value = converters.Text([]byte(v))
			case int:
				f.Value = converters.Opaque(int64(v))
			}
			s.Fields = append(s.Fields, f)
		}
		return s
	}
	for _, row := range []struct {
		name   string
		opts   Options
		sample *converters.Sample
		want   []string
	}{
		{"whole", Options{}, sample("jpg", whole, "cls", []byte("3")), nil},
		{"cut", Options{}, sample("cls", []byte("3"), "jpg", cut), []string{"jpg"}},
		{"two", Options{}, sample("jpg", cut, "png", []byte{}), []string{"jpg", "png"}},
		{"no suffix", Options{}, sample("image", cut), []string{"image"}},
		{"renamed", Options{Rename: []string{"image=jpg"}}, sample("jpg", []byte{}), []string{"jpg"}},
		{"left out", Options{Fields: "cls"}, sample("jpg", cut, "cls", []byte("3")), nil},
		{"raw", Options{Encoding: "raw:jpg"}, sample("png", []byte{}, "jpg", cut), []string{"jpg"}},
		{"text", Options{}, sample("json", "{"), nil},
		{"sizes alone", Options{}, sample("jpg", 7), nil},
		{"copies", Options{Encoding: "msgpack", Encoded: true}, sample("record", []byte("\x80"), "jpg", cut), nil},
	} {
		for _, damaged := range []string{"", DamagedKeep, DamagedSkip, DamagedError} {
			opts := row.opts
			if opts.Damaged = damaged; opts.Encoded && damaged != "" {
				continue
			}
			rec, err := newEncoder(t, opts).Encode(row.sample)
			refuses := len(row.want) > 0 && (damaged == DamagedSkip || damaged == DamagedError)
			if refuses {
				if want := map[string]error{DamagedSkip: ErrSkipDamaged, DamagedError: ErrNotWhole}[damaged]; !errors.Is(err, want) || errors.Is(err, ErrSkip) != (damaged == DamagedSkip) {
					t.Errorf("%s, %q: %v, want %v", row.name, damaged, err, want)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %q: %v", row.name, damaged, err)
				continue
			}
			var got []string
			for _, d := range rec.Damaged {
				got = append(got, d.Field)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("%s, %q: %q, want %q", row.name, damaged, got, row.want)
			}
		}
	}
	if _, err := Parse(Options{Damaged: "drop"}); err == nil {
		t.Error("an unknown word is accepted")
	}
	for _, word := range []string{DamagedSkip, DamagedError} {
		if opts := (Options{Damaged: word}); !opts.Loads("jpg") {
			t.Errorf("--damaged %s does not read", word)
		}
	}
	if opts := (Options{Damaged: DamagedKeep}); opts.Loads("jpg") {
		t.Error("--damaged keep reads while it indexes")
	}
}
