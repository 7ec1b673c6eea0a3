package decode

// For tests in package decode_test, which may import package encode.
var AppendTenbinChunk = appendTenbinChunk

const (
	TenbinMagic = tenbinMagic
	Undecoded   = undecoded
)
