package cliflag

import (
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/option"
)

// DecodeLimits registers --max-decode-size and --max-decode-depth.
func DecodeLimits(flags *pflag.FlagSet, l *decode.Limits, size, depth string) {
	Size(flags, &l.MaxDecode, "max-decode-size", decode.DefaultMaxDecode, size)
	l.MaxDepth = decode.DefaultMaxDepth
	flags.Var(option.Between(&l.MaxDepth, 4, 65535), "max-decode-depth", depth+", 4 to 65535")
}
