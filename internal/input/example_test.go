package input_test

import (
	"fmt"

	"github.com/ffconvert/ffconvert/internal/input"
)

func ExampleExpand() {
	for name, err := range input.Expand("{train,val}-<08..10>.tar", input.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name)
	}
	// Output:
	// train-08.tar
	// train-09.tar
	// train-10.tar
	// val-08.tar
	// val-09.tar
	// val-10.tar
}
