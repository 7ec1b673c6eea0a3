package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A job is work that takes too long for one request: a verification, a survey, a comparison.
type job struct {
	Name  string // its name in URLs
	Begun time.Time

	total atomic.Int64 // the value of done at the end
	done  atomic.Int64
	say   func(done, total int64, d time.Duration) string
	work  func(ctx context.Context, j *job) (any, error)
	stop  context.CancelFunc
	ended chan struct{} // closed when the fields below are set

	Ended  time.Time
	result any
	err    error
}

// jobs holds the last job of each name.
type jobs struct {
	ctx     context.Context // ends with the server
	mu      sync.Mutex
	all     map[string]*job
	working sync.WaitGroup
}

// wait returns when all jobs have ended. The caller must have cancelled the context before.
func (s *jobs) wait() {
	s.mu.Lock()
	s.ctx = nil // no job can start from here on
	s.mu.Unlock()
	s.working.Wait()
}

// get returns the last job with a name, nil if there was none.
func (s *jobs) get(name string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[name]
}

var errStopped = errors.New("stopped")

// start starts a job, or returns the existing one with its name. again: a job that has ended is started again.
func (s *jobs) start(j *job, again bool, work func(ctx context.Context, j *job) (any, error)) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.all[j.Name]; old != nil && !(again && old.Over()) {
		return old
	}
	j.Begun, j.ended, j.work = time.Now(), make(chan struct{}), work
	if s.ctx == nil {
		j.err = errStopped
		close(j.ended)
		return j
	}
	var ctx context.Context
	ctx, j.stop = context.WithCancel(s.ctx)
	if s.all == nil {
		s.all = make(map[string]*job)
	}
	s.all[j.Name] = j
	s.working.Go(func() {
		defer j.stop()
		j.result, j.err = survive(ctx, j)
		if errors.Is(j.err, context.Canceled) {
			j.err = errStopped
		}
		j.Ended = time.Now()
		close(j.ended)
	})
	return j
}

// survive runs the work of a job. It returns a panic as an error.
func survive(ctx context.Context, j *job) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	return j.work(ctx, j)
}

// Over reports whether the job has ended.
func (j *job) Over() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// await waits up to d for the end of the job.
func (j *job) await(d time.Duration) bool {
	select {
	case <-j.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// moved sets the progress of the job.
func (j *job) moved(done, total int64) {
	j.total.Store(total)
	j.done.Store(done)
}

// Failed returns why the job ended without a result; "" if it has a result, or runs.
func (j *job) Failed() string {
	switch {
	case !j.Over() || j.err == nil:
		return ""
	case errors.Is(j.err, errStopped):
		return "It was stopped."
	}
	return lines(j.err)
}

// Share returns the completed share of the job, 0 to 1.
func (j *job) Share() float64 { return min(1, float64(j.done.Load())/float64(max(1, j.total.Load()))) }

// Text describes the progress of the job.
func (j *job) Text() string { return j.say(j.done.Load(), j.total.Load(), time.Since(j.Begun)) }

// jobEvents streams the progress and the end of a job as server-sent events.
func jobEvents(q *request) error {
	j := q.jobs.get(q.r.PathValue("job"))
	if j == nil {
		return notFound("There is no such work.")
	}
	q.w.Header().Set("Content-Type", "text/event-stream")
	to := http.NewResponseController(q.w)
	send := func(event string) error {
		text, err := json.Marshal(struct {
			Share float64 `json:"share"`
			Text  string  `json:"text"`
		}{j.Share(), j.Text()})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(q.w, "event: %s\ndata: %s\n\n", event, text); err != nil {
			return err
		}
		return to.Flush()
	}
	for {
		if err := send("progress"); err != nil {
			return gone(err)
		}
		select {
		case <-q.ctx().Done():
			return gone(q.ctx().Err())
		case <-j.ended:
			return gone(send("end"))
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// stopJob stops a job and redirects to its page.
func stopJob(q *request) error {
	if j := q.jobs.get(q.r.PathValue("job")); j != nil {
		j.stop()
		j.await(time.Second)
	}
	return q.back()
}

// repeatJob starts an ended job again, and redirects to the page named in the form.
func repeatJob(q *request) error {
	if j := q.jobs.get(q.r.PathValue("job")); j != nil {
		again := &job{Name: j.Name, say: j.say}
		again.moved(0, j.total.Load())
		q.jobs.start(again, true, j.work)
	}
	return q.back()
}

// back redirects to a page of this server that the form names.
func (q *request) back() error {
	to := q.r.PostFormValue("back")
	if !local(to) {
		to = "/"
	}
	http.Redirect(q.w, q.r, to, http.StatusSeeOther)
	return nil
}
