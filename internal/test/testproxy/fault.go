package testproxy

import (
	"context"
	"math/rand/v2"
	"net/http"
)

// A Fault is what happens to a request.
type Fault int

const (
	Pass       Fault = iota
	Refuse           // the connection is cut, and the service does not see the request
	CutRequest       // the service sees some of the body, then both connections are cut; Refuse without a body
	CutReply         // the service acts, and the connection is cut before a byte of its reply
	CutBody          // the connection is cut in the middle of the body of the reply, or before its end if that is empty
	Busy             // 503 without Retry-After; the service does not see the request
	Later            // 503 with Retry-After
	TooMany          // 429 with Retry-After
	Delay            // the request waits
	Twice            // the service gets the request twice; the client sees the second reply
	Flip             // a bit of the body of the reply is another one; Refuse without a body
	Short            // the body of the reply lacks its end, and its length says so; Refuse without a body
	OtherTag         // the reply has another ETag
	Lost             // 404; the service does not see the request
)

// Lies are replies that are whole, and wrong. Nothing but the meaning of the bytes tells some of them.
func Lies() []Fault { return []Fault{Flip, Short, OtherTag, Lost} }

// All are the faults that a client can overcome by trying again.
func All() []Fault {
	return []Fault{Refuse, CutRequest, CutReply, CutBody, Busy, Later, TooMany, Delay, Twice}
}

// Cuts are moments for killing the client: the request has not come, has come by half, was carried out.
func Cuts() []Fault { return []Fault{Refuse, CutRequest, CutReply} }

// Some disturbs a share of the requests, by the faults in turn as a seed decides; no faults: All.
func Some(seed uint64, share float64, faults ...Fault) func(n int, r *http.Request) Fault {
	if len(faults) == 0 {
		faults = All()
	}
	return func(n int, _ *http.Request) Fault {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		if rng.Float64() >= share {
			return Pass
		}
		return faults[rng.IntN(len(faults))]
	}
}

// Only disturbs one request, the n-th.
func Only(n int, f Fault) func(n int, r *http.Request) Fault {
	return func(i int, _ *http.Request) Fault {
		if i == n {
			return f
		}
		return Pass
	}
}

func withExchange(ctx context.Context, x exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeOf(ctx context.Context) exchange {
	x, _ := ctx.Value(exchangeKey{}).(exchange)
	return x
}
