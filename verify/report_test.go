package verify

import (
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

// Workers that read too little for a queue do not make the others' Linux AIO pread; one that fell back does.
func TestBackendOfWorkers(t *testing.T) {
	t.Parallel()
	ring, few, none := aio.Stats{Backend: aio.AIO}, aio.Stats{Backend: aio.Pread}, aio.Stats{Backend: aio.Pread, Fallback: "refused"}
	for _, tt := range []struct {
		of                []aio.Stats
		backend, fallback string
	}{
		{[]aio.Stats{few}, "pread", ""},
		{[]aio.Stats{few, ring}, "aio", ""},
		{[]aio.Stats{ring, few, few}, "aio", ""},
		{[]aio.Stats{ring, none}, "pread", "refused"},
		{[]aio.Stats{none, ring, few}, "pread", "refused"},
	} {
		var r Report
		for _, s := range tt.of {
			r.backend(s)
		}
		if r.Backend != tt.backend || r.Fallback != tt.fallback {
			t.Errorf("%v: %q, %q", tt.of, r.Backend, r.Fallback)
		}
	}
}
