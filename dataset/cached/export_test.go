package cached

// WithMemory returns options of a server that keeps n bytes of what was fetched ahead.
func (o Options) WithMemory(n int64) Options {
	o.memory = n
	return o
}
