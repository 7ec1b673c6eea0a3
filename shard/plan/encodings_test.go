package plan

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
)

// A plan of one encoding does not tell of others, and one with a part of an encoding that it
// has not is damaged.
func TestEncodingsInPlan(t *testing.T) {
	t.Parallel()
	src := memsource.New(62, 2, 6, 50)
	var one, two bytes.Buffer
	if _, err := planEach(t, src, nil, Options{}, encode.Options{}).Write(&one); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(one.String(), "encodes") || strings.Count(one.String(), `"encode"`) != 1 {
		t.Errorf("a plan of one encoding: %s", one.String())
	}
	plan := planEach(t, src, []int{0, 1}, Options{}, encode.Options{}, encode.Options{Fields: "bin"})
	if _, err := plan.Write(&two); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"2", "-1"} {
		hostile := strings.Replace(texts(two.String()), `"encode":1`, `"encode":`+n, 1)
		if _, err := readText(lined(hostile)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "encoding") {
			t.Errorf("encoding %s: error %v", n, err)
		}
	}
}
