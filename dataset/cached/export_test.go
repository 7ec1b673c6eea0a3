package cached

import (
	"context"
	"net"
)

// WithMemory returns options of a server that keeps n bytes of what was fetched ahead.
func (o Options) WithMemory(n int64) Options {
	o.memory = n
	return o
}

// ServeThrough serves the dataset at url, whose connections come from the listener that wrap makes of the socket's.
func ServeThrough(ctx context.Context, url string, opts Options, wrap func(net.Listener) net.Listener) error {
	d, err := find(ctx, url, opts)
	if err != nil {
		return err
	}
	defer d.root.Close()
	v, err := newServer(d)
	if err != nil {
		return err
	}
	l, err := d.listen()
	if err != nil {
		v.close()
		return err
	}
	v.serve(ctx, wrap(l))
	return nil
}

// LeaveWaiting is a user that asks to wait until all is filled, and ends before.
func (x *Dataset) LeaveWaiting(ctx context.Context) error {
	c, err := x.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return writeRequest(c, askFilled)
}
