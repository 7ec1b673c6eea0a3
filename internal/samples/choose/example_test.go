package choose_test

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

func Example() {
	c, err := choose.New(choose.Options{Where: "cls=1 and jpg.size<1KiB", Limit: 1}, nil)
	if err != nil {
		panic(err)
	}
	part := c.Part("train-0001.tar")
	for key, size := range []int64{100, 2000, 300, 400} {
		s := &converters.Sample{Key: fmt.Sprint(key), Fields: []converters.Field{
			{Name: "jpg", Value: converters.Opaque(size)}, {Name: "cls", Value: converters.Int(int64(min(key, 1)))},
		}}
		reason, err := part.Leave(s)
		if err != nil {
			panic(err)
		}
		if reason == "" {
			reason = c.Count()
		}
		fmt.Printf("%s %q\n", s.Key, reason)
	}
	// Output:
	// 0 "where"
	// 1 "where"
	// 2 ""
	// 3 "limit"
}
