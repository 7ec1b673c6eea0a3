package convert

// An Advice says what helps against an error. The package does not know flags: the program that
// has them names the flag.
type Advice int

const (
	MoreRoomForAll    Advice = iota + 1 // a larger cache, or fewer parts at once
	MoreRoomForOne                      // a larger cache, or smaller shards
	DirectoryForCache                   // another directory for copies
	NotAligned                          // shards that are not part-aligned
	FewerInputs                         // fewer inputs, or a higher limit of them
	anotherOutput                       // another directory, or permission to write into this one
	NamedSources                        // new names of the sources
	ProgramArguments                    // the program and its arguments
	TheFilter                           // the program that samples pass through
	APlan                               // a plan
	VerifyOrPlan                        // a verification, or the plan
	TheCopy                             // the copy again
	TheExport                           // the export again
)

// An AdvisedError is an error with an advice.
type AdvisedError struct {
	Advice Advice
	Err    error
}

func (e *AdvisedError) Error() string { return e.Err.Error() }
func (e *AdvisedError) Unwrap() error { return e.Err }

// advise adds advice to an error, if there is one.
func advise(advice Advice, err error) error {
	if err == nil {
		return nil
	}
	return &AdvisedError{advice, err}
}
