package stage

import (
	"os"
	"testing"
)

// Commands of these tests are guarded, by this program.
func TestMain(m *testing.M) {
	Guard()
	os.Exit(m.Run())
}
