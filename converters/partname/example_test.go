package partname_test

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters/partname"
)

func ExampleNaming_Arrange() {
	naming := partname.Naming{Prefix: "part-", SuffixLength: -1}
	fmt.Println(naming.Arrange([]string{"_SUCCESS", "part-2.csv", "part-10.csv", "part-0.csv", "part-1.csv"}))
	// Output: [] part-3: file does not exist: the parts go up to part-10.csv (Naming.Prefix, Naming.SuffixLength)
}
