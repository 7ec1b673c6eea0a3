package convert

// An Advice says what helps against an error, as a hint of place.Error does. COMMAND and OUT in it stand for the command that
// failed and the directory of its dataset.
type Advice string

const (
	MoreRoomForAll    Advice = "" // a larger cache, or fewer parts at once, as the command allows
	MoreRoomForOne    Advice = "raise option cache-size, or make more shards, by option shards or option shard-size, where it has several parts"
	DirectoryForCache Advice = "name a directory that can be written to with option cache-dir"
	NotAligned        Advice = "leave option whole-parts out; option exact cuts at samples"
	FewerInputs       Advice = "option max-names"
	NamedSources      Advice = "run it where the conversion was planned, or name the sources: ffconvert COMMAND OUT SOURCE"
	ProgramArguments  Advice = "to run a plugin again, name it and its arguments: ffconvert COMMAND --plugin NAME OUT ARGS"
	TheFilter         Advice = "give it again with option filter"
	APlan             Advice = "ffconvert plan makes one"
	VerifyOrPlan      Advice = "ffconvert verify OUT checks the dataset, the command that made it writes the plan anew"
	TheCopy           Advice = "the same ffconvert copy goes on"
	TheExport         Advice = "the same ffconvert export goes on"
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
