package browse_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	neturl "net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/browse"
	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if work, err = os.MkdirTemp("", "ffconvert-browse-*"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(work)
	return chromium.Main(m)
}

// full reports whether the tests run at their full size, as make browse-full has them.
func full() bool { return os.Getenv("FFCONVERT_BROWSE_FULL") != "" }

// A said is what a server has logged.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A gate holds verifications up, so that a test sees them under way.
type gate struct {
	mu   sync.Mutex
	open chan struct{}
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) lift() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.open = nil
}

func (g *gate) pass(_, _ int64) {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open != nil {
		<-open
	}
}

// serve shows datasets until the test ends, and returns the URL with the secret and the origin. A server that logs an
// error fails the test.
func serve(t testing.TB, dirs ...string) (url, origin string) {
	return serveBy(t, verify.Options{}, dirs...)
}

// datasets opens datasets and shards.
func datasets(t testing.TB, dirs ...string) (open []browse.Dataset) {
	t.Helper()
	for _, dir := range dirs {
		d, err := lookup.Open(dir, lookup.Options{Record: record.Options{MaxSample: browse.MaxRecord}, Encoding: "msgpack"})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, browse.Dataset{Dataset: d})
	}
	return open
}

func serveBy(t testing.TB, how verify.Options, dirs ...string) (url, origin string) {
	t.Helper()
	return serveAll(t, how, datasets(t, dirs...))
}

func serveAll(t testing.TB, how verify.Options, open []browse.Dataset) (url, origin string) {
	t.Helper()
	log := &said{}
	s, err := browse.New(open, browse.Options{Tool: "ffconvert of the tests", Log: log, Verify: how})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, func(link browse.Link) error { ready <- link.URL; return nil }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if text := log.String(); text != "" {
			t.Errorf("the server says: %s", text)
		}
	})
	select {
	case url = <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	return url, "http://" + l.Addr().String()
}

// A program is `ffconvert browse` in a process of its own.
type program struct {
	url, origin string
	pid         int
}

// execute runs the program in a directory, "" for this one, on datasets until the test ends, by SIGINT. What it says fails the test.
func execute(t testing.TB, in string, dirs ...string) program {
	t.Helper()
	cmd := exec.Command(need.Program(t), append([]string{"browse"}, dirs...)...)
	cmd.Dir = in
	var said strings.Builder
	cmd.Stderr = &said
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || said.Len() > 0 {
			t.Errorf("%v: %s", err, &said)
		}
	})
	link, parsed := neturl.Parse(strings.TrimSpace(line))
	if err != nil || parsed != nil {
		t.Fatal(err, parsed)
	}
	return program{link.String(), link.Scheme + "://" + link.Host, cmd.Process.Pid}
}

// peak returns the most memory that the program had, VmHWM in bytes.
func (p program) peak(t testing.TB) (n int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(after, "%d kB", &n); err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// show is a tab that has been let in.
func show(t testing.TB, dirs ...string) *chromium.Tab {
	t.Helper()
	url, origin := serve(t, dirs...)
	tab := chromium.Open(t, origin)
	enter(tab, url)
	return tab
}

// showProgram is show by the program.
func showProgram(t testing.TB, in string, dirs ...string) (*chromium.Tab, program) {
	t.Helper()
	p := execute(t, in, dirs...)
	tab := chromium.Open(t, p.origin)
	enter(tab, p.url)
	return tab, p
}

// enter opens the URL with the secret, which leads on.
func enter(tab *chromium.Tab, url string) {
	tab.Go(url)
	tab.Wait(`!location.search.includes("token") && document.querySelector("main h1")`)
}

// settled waits for work of the server that a page shows, and for what the page still loads.
func settled(tab *chromium.Tab) {
	tab.Wait(`!document.querySelector(".job") && document.readyState == "complete" && document.querySelector("main h1")`)
}
