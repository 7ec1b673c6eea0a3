package convert

// Indexing a part that is not in the page cache waits for many small reads, one after another, so more parts
// are indexed at once than there are workers: as many as keep the device busy.
const (
	usualIndexers = 32 // or as many as there are workers
	leastIndexers = 8  // even if few files may be open
)

// Indexers returns the number of parts to index at once. Each has an open file.
func Indexers(workers int) int {
	return min(max(workers, usualIndexers), max(leastIndexers, openFiles()/4))
}
