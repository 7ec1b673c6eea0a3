package browse

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/internal/browse/view"
	"github.com/ffconvert/ffconvert/verify"
)

// MaxRecord is the largest record, in bytes, whose fields are shown. A larger one is compared with its CRC, and can be
// downloaded.
const MaxRecord = 64 << 20

const (
	heldRecords  = 2 * MaxRecord // bytes of records being shown
	heldPictures = 160 << 20     // bytes of pictures being decoded
	leaveTime    = 500 * time.Millisecond
)

// Options control a Server.
type Options struct {
	Tool   string         // the program and its version, for the foot of each page
	Verify verify.Options // how datasets are verified
	Log    io.Writer      // a line for each error of the server itself; nil: none
}

// A Server serves pages about datasets.
type Server struct {
	opts   Options
	sets   []*set
	guard  *guard
	thumbs *view.Thumbs
	held   *semaphore.Weighted // bytes of records being shown
	sent   *semaphore.Weighted // bytes of records being sent, which may take long
	jobs   jobs
}

// New returns a Server for datasets, each opened with a record limit of at most MaxRecord.
func New(datasets []Dataset, opts Options) (*Server, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	s := &Server{opts: opts, thumbs: view.NewThumbs(heldPictures, 4), held: semaphore.NewWeighted(heldRecords), sent: semaphore.NewWeighted(heldRecords)}
	for i, d := range datasets {
		x, err := newSet(i, d)
		if err != nil {
			return nil, err
		}
		s.sets = append(s.sets, x)
	}
	if len(s.sets) == 0 {
		return nil, errors.New("browse: no datasets")
	}
	return s, nil
}

// Serve responds to requests until ctx ends, and closes l. It calls ready once, with the link to the first page; an
// error of ready ends Serve. Serve must be called only once.
func (s *Server) Serve(ctx context.Context, l net.Listener, ready func(Link) error) error {
	ctx, cancel := context.WithCancel(ctx)
	s.jobs.ctx = ctx
	defer func() {
		cancel()
		s.jobs.wait()
	}()
	var err error
	if s.guard, err = newGuard(l.Addr()); err != nil {
		l.Close()
		return err
	}
	s.guard.log = s.opts.Log
	server := s.guard.server()
	server.Handler = s.guard.wrap(s.routes())
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	left := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(left)
		leave, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		if server.Shutdown(leave) != nil {
			server.Close()
		}
	})
	if err := ready(Link{s.guard.url, !s.guard.loopback, lead(s.guard.url)}); err != nil {
		l.Close()
		return err
	}
	if err := server.Serve(netutil.LimitListener(l, connections)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-left
	return nil
}

//go:embed static
var static embed.FS

// routes returns the handler of all paths.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err)
	}
	mux.HandleFunc("GET /static/{$}", http.NotFound) // no listing
	serve := http.StripPrefix("/static/", http.FileServerFS(files))
	mux.HandleFunc("GET /static/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=3600")
		serve.ServeHTTP(w, r)
	})
	page := func(pattern string, answer func(*request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, answer) })
	}
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "icon.svg") }) // for the page of lead
	of := func(pattern string, answer func(*request, *set) error) {                                                                // a page about a dataset
		page(pattern, func(q *request) error {
			x, err := q.set()
			if err != nil {
				return err
			}
			return answer(q, x)
		})
	}
	one := func(pattern string, answer func(*request, *set, int64) error) { // a page about a sample
		of(pattern, func(q *request, x *set) error {
			n, err := q.number(x)
			if err != nil {
				return err
			}
			return answer(q, x, n)
		})
	}
	page("GET /{$}", home)
	of("GET /d/{set}/{$}", verdictPage)
	of("GET /d/{set}/grid", gridPage)
	of("GET /d/{set}/cards", moreCards)
	of("GET /d/{set}/keys", keysFile)
	of("GET /d/{set}/classes", classesPage)
	of("GET /d/{set}/sizes", sizesPage)
	of("GET /d/{set}/parts", partsPage)
	of("GET /d/{set}/find", findSample)
	one("GET /d/{set}/sample/{number}", samplePage)
	one("GET /d/{set}/raw/{number}/{field}", rawField)
	one("GET /d/{set}/thumb/{number}", thumbnail)
	page("GET /compare", comparePage)
	page("GET /jobs/{job}/events", jobEvents)
	of("POST /d/{set}/verify", startVerify)
	page("POST /jobs/{job}/stop", stopJob)
	page("POST /jobs/{job}/again", repeatJob)
	page("GET /", func(*request) error { return notFound("There is no such page.") })
	return mux
}

// A request is a request with its response.
type request struct {
	*Server
	w *writer
	r *http.Request
}

func (q *request) ctx() context.Context { return q.r.Context() }

// set returns the dataset in the path.
func (q *request) set() (*set, error) {
	n, err := strconv.Atoi(q.r.PathValue("set"))
	if err != nil || n < 0 || n >= len(q.sets) {
		return nil, notFound("There is no such dataset.")
	}
	return q.sets[n], nil
}

// number returns the sample number in the path.
func (q *request) number(x *set) (int64, error) {
	n, err := strconv.ParseInt(q.r.PathValue("number"), 10, 64)
	if err != nil || n < 0 || n >= x.Len {
		return 0, notFound(fmt.Sprintf("There is no sample #%s: samples are numbered from 0 to %d.", q.r.PathValue("number"), x.Len-1))
	}
	return n, nil
}
