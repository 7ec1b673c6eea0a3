package heads

// MessagePack has the heads of MessagePack (github.com/msgpack/msgpack, spec.md). The last
// byte of an extension's head is its type.
//
//	00–7f  n           c4–c6  bytes, n is 1, 2, 4    d4–d8  extension of 1, 2, 4, 8, 16
//	80–8f  map         c7–c9  extension, likewise    d9–db  text, n is 1, 2, 4
//	90–9f  array       ca cb  float of 4, 8          dc dd  array, n is 2, 4
//	a0–bf  text        cc–cf  unsigned of 1, 2, 4, 8 de df  map, n is 2, 4
//	c0     nil         d0–d3  signed, likewise       e0–ff  −1 − (ff − byte)
//	c1     reserved    c2 c3  false, true
var MessagePack = messagePackForms()

func messagePackForms() *Forms {
	var t Forms
	for i := range t {
		b := byte(i)
		switch {
		case b < 0x80:
			t[i] = immediate(Uint, b)
		case b < 0x90:
			t[i] = immediate(Map, b&0x0f)
		case b < 0xa0:
			t[i] = immediate(Array, b&0x0f)
		case b < 0xc0:
			t[i] = immediate(Text, b&0x1f)
		case b >= 0xe0:
			t[i] = immediate(Negative, 0xff-b)
		}
	}
	t[0xc0] = immediate(Null, 0)
	t[0xc1] = immediate(Reserved, 0xc1)
	t[0xc2] = immediate(isFalse, 0)
	t[0xc3] = immediate(isTrue, 0)
	t[0xca] = wide(Float, 4)
	t[0xcb] = wide(Float, 8)
	for i := range 3 {
		t[0xc4+i] = wide(Bytes, 1<<i)
		t[0xc7+i] = extension(wide(Extension, 1<<i))
		t[0xd9+i] = wide(Text, 1<<i)
	}
	for i := range 4 {
		t[0xcc+i] = wide(Uint, 1<<i)
		t[0xd0+i] = wide(signed, 1<<i)
	}
	for i := range 5 {
		t[0xd4+i] = extension(immediate(Extension, 1<<i))
	}
	for i := range 2 {
		t[0xdc+i] = wide(Array, 2<<i)
		t[0xde+i] = wide(Map, 2<<i)
	}
	return &t
}

// extension returns a form with the byte of the type added.
func extension(f form) form {
	f.size++
	return f
}
