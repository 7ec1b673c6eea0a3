package python

import (
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// Requests of any bytes and sizes are answered in order by one process.
func TestAsk(t *testing.T) {
	t.Parallel()
	py := Start(t, `
import zlib
head = []
def reply(request):
    head.append(zlib.crc32(request))
    return {"Asked": len(head), "Size": len(request), "Text": request[:9].decode()}`)
	for i, request := range []string{"", "\n", "\x00\n", "Grüße", strings.Repeat("x", 1<<20)} {
		var got struct {
			Asked, Size int
			Text        string
		}
		py.Ask([]byte(request), &got)
		if got.Asked != i+1 || got.Size != len(request) || !strings.HasPrefix(request, got.Text) {
			t.Errorf("%.9q: %+v", request, got)
		}
	}
}

// Whatever goes wrong is said, with Python's own words.
func TestFailures(t *testing.T) {
	Path(t)
	for _, row := range []struct {
		name   string
		ci     string
		script string
		module string
		ended  string
		log    string
	}{
		{"nothing", "", "reply = len", "zlib", "", ""},
		{"a module that is missing", "", "reply = len", "nothere", "skipped", "No module named 'nothere'"},
		{"the same in CI", "1", "reply = len", "nothere", "failed", "No module named 'nothere'"},
		{"no reply", "", "import zlib", "zlib", "failed", "NameError: name 'reply'"},
		{"an exception", "", "def reply(b): raise ValueError('so')", "zlib", "failed", "ValueError: so"},
		{"an early end", "", "def reply(b): exit()", "zlib", "failed", "ask Python: EOF"},
		{"no JSON", "", "reply = bytes", "zlib", "failed", "bytes is not JSON serializable"},
		{"a reply that does not fit", "", "reply = bytes.hex", "zlib", "failed", "cannot unmarshal string"},
		{"an end that is bad", "", "import atexit, os; atexit.register(os._exit, 3)\nreply = len", "zlib", "", "exit status 3"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("CI", row.ci)
			r := need.Try(t, func(t testing.TB) {
				var size int
				if Start(t, row.script, row.module).Ask([]byte("four"), &size); size != 4 {
					t.Errorf("answer %d", size)
				}
			})
			if r.Ended != row.ended || (r.Said.Len() == 0) != (row.log == "") || !strings.Contains(r.Said.String(), row.log) {
				t.Errorf("%s, want %s with %s:\n%s", r.Ended, row.ended, row.log, &r.Said)
			}
		})
	}
}
