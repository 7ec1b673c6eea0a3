// Package blocking keeps regular files away from the poller of the Go runtime.
//
//	f, err := blocking.File(root.OpenFile(name, os.O_RDONLY, 0))
//
// Package os registers a file with the poller where its file system takes part in poll(2), as FUSE
// does. A Read or Write that is answered with EAGAIN then waits for an event, and the server of a
// regular file sends none: the goroutine waits for ever.
package blocking
