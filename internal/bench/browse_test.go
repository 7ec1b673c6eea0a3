//go:build bench && linux

package bench

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A browsing is `ffconvert browse` at work, and a browser that it has let in.
type browsing struct {
	cmd    *exec.Cmd
	client *http.Client
	origin string
	began  float64 // seconds from its start until it prints its URL
}

// browse starts the program on datasets.
func browse(t *testing.T, dirs ...string) *browsing {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browsing{cmd: exec.Command(program, append([]string{"browse"}, dirs...)...), client: &http.Client{Jar: jar, Timeout: time.Minute}}
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	stdout, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	b.cmd.Stderr = os.Stderr
	start := time.Now()
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.end(t) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	b.began = time.Since(start).Seconds()
	link, err := url.Parse(strings.TrimSpace(line))
	if err != nil || !link.Query().Has("token") {
		t.Fatalf("%q: %v", line, err)
	}
	b.origin = link.Scheme + "://" + link.Host
	b.get(t, link.RequestURI(), "")
	return b
}

// get fetches a page and returns how many seconds it took until its last byte. has is a text of the page.
func (b *browsing) get(t *testing.T, path, has string) float64 {
	t.Helper()
	start := time.Now()
	r, err := b.client.Get(b.origin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	took := time.Since(start).Seconds()
	if err != nil || r.StatusCode >= 400 || !strings.Contains(string(body)+r.Header.Get("Location"), has) {
		t.Fatalf("%s: %s, %v: no %q in\n%.2000s", path, r.Status, err, has, body)
	}
	return took
}

// until fetches a page until it has a text: work of the server has ended.
func (b *browsing) until(t *testing.T, path, has string) float64 {
	t.Helper()
	start := time.Now()
	for {
		r, err := b.client.Get(b.origin + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if strings.Contains(string(body)+r.Header.Get("Location"), has) {
			return time.Since(start).Seconds()
		}
		if err != nil || r.StatusCode >= 400 || time.Since(start) > 5*time.Minute {
			t.Fatalf("%s: %s, %v: no %q in\n%.2000s", path, r.Status, err, has, body)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// peak returns VmHWM in bytes.
func (b *browsing) peak(t *testing.T) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return float64(field(status, "VmHWM:"))
}

func (b *browsing) end(t *testing.T) {
	if b.cmd.ProcessState != nil {
		return
	}
	b.cmd.Process.Signal(syscall.SIGINT)
	late := time.AfterFunc(10*time.Second, func() { b.cmd.Process.Kill() })
	defer late.Stop()
	b.cmd.Wait()
}

const browseMemory = 512 << 20 // bytes that `browse` may have had at most

// TestB2 browses a dataset of ten million samples with keys.
func TestB2(t *testing.T) {
	measure(t, "B2", func(record func(figure)) {
		set, out := setOf(t, keyedItems), filepath.Join(work, "browsed")
		defer settle(t, out) // the set is for G1, too, which comes after and removes it
		execute(t, program, "cbor", "--no-verify", "--progress", "none", set, out)
		n := int(keyedCount())
		what := fmt.Sprintf("of %d samples", n)
		var opened, verdict, first, middle series
		for range slowRounds {
			forget(t, filesUnder(t, out))
			b := browse(t, out)
			opened = append(opened, b.began)
			verdict = append(verdict, b.get(t, "/d/0/", "Balance"))
			first = append(first, b.get(t, "/d/0/grid", keyOf(0)))
			middle = append(middle, b.get(t, fmt.Sprintf("/d/0/grid?from=%d", n/2), keyOf(n/2)))
			b.end(t)
		}
		limit := atMost(0.2)
		record(figure{work: "`browse` " + what + ", until it prints its URL; none of it in the page cache", value: opened, unit: millis, target: limit})
		record(figure{work: "its first page", value: verdict, unit: millis, target: limit})
		record(figure{work: "the first page of the grid", value: first, unit: millis, target: limit})
		record(figure{work: "a page of the grid in the middle", value: middle, unit: millis, target: limit})

		b := browse(t, out)
		var find, show series
		rnd := rand.New(rand.NewPCG(8, 0))
		for range lookups {
			k := rnd.IntN(n)
			forget(t, filesUnder(t, out))
			find = append(find, b.get(t, "/d/0/find?key="+keyOf(k), fmt.Sprintf("/d/0/sample/%d", k)))
			show = append(show, b.get(t, fmt.Sprintf("/d/0/sample/%d", k), keyOf(k)))
		}
		record(figure{work: "a search of a key, none of it in the page cache", value: find, unit: millis, target: atMost(0.06)})
		record(figure{work: "the page of the sample that was found", value: show, unit: millis, target: atMost(0.02)})
		record(figure{work: "sizes, of all indexes", value: series{b.until(t, "/d/0/sizes", "Largest")}, unit: seconds})
		record(figure{work: "peak memory of all of this, VmHWM", value: series{b.peak(t)}, unit: memory, target: atMost(browseMemory)})
	})
}

// rowCount is a hundred million, at 2 GiB.
func rowCount() int64 { return 10 * keyedCount() }

// rowItems is eight CSV files of one number a line: as many samples as there can be, of 8 bytes.
var rowItems = sync.OnceValues(func() (string, error) {
	each := int(rowCount() / 8)
	return makeParts("rows", 8, "csv", func(w *bufio.Writer, part int) {
		for i := range each {
			fmt.Fprintf(w, "%d\n", i%1000)
		}
	})
})

// TestB3 opens a dataset of a hundred million samples.
func TestB3(t *testing.T) {
	measure(t, "B3", func(record func(figure)) {
		set, out := setOf(t, rowItems), filepath.Join(work, "rows-browsed")
		defer settle(t, set, out)
		execute(t, program, "csv", "--dtype", "int64", "--no-verify", "--progress", "none", set, out)
		n := int(rowCount())
		forget(t, filesUnder(t, out))
		b := browse(t, out)
		what := fmt.Sprintf("of %d samples", n)
		limit := atMost(0.2)
		record(figure{work: "`browse` " + what + ", until it prints its URL; none of it in the page cache", value: series{b.began}, unit: millis, target: limit})
		record(figure{work: "its first page", value: series{b.get(t, "/d/0/", "Balance")}, unit: millis, target: limit})
		record(figure{work: "the first page of the grid", value: series{b.get(t, "/d/0/grid", "/d/0/sample/0")}, unit: millis, target: limit})
		record(figure{work: "a page of the grid in the middle", value: series{b.get(t, fmt.Sprintf("/d/0/grid?from=%d", n/2), fmt.Sprintf("/d/0/sample/%d", n/2))}, unit: millis, target: limit})
		record(figure{work: "the page of the last sample", value: series{b.get(t, fmt.Sprintf("/d/0/sample/%d", n-1), fmt.Sprintf("#%d", n-1))}, unit: millis, target: limit})
		record(figure{work: "sizes, of all indexes", value: series{b.until(t, "/d/0/sizes", "Largest")}, unit: seconds})
		record(figure{work: "peak memory of all of this, VmHWM", value: series{b.peak(t)}, unit: memory, target: atMost(browseMemory)})
	})
}
