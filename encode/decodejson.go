package encode

import "github.com/ffconvert/ffconvert/converters"

// json decodes one JSON text: see jsonReader.
func (d *decoder) json(data []byte) (converters.Value, error) {
	r := &d.jsonReader
	r.depth = d.limits.MaxDepth
	r.start(data)
	x, err := r.value()
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return converters.Value{}, err
	}
	return converters.ValueOf(x), nil
}

// ParseJSON decodes one JSON text as Options.Decode decodes a field json.
func ParseJSON(data []byte, limits Limits) (converters.Value, error) {
	return newDecoder(limits).json(data)
}

// NewJSON returns ParseJSON with these limits as a function that is not to be called concurrently, for many texts.
func NewJSON(limits Limits) func(data []byte) (converters.Value, error) {
	return newDecoder(limits).json
}
