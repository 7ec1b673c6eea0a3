package audit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/hint"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// A refusedArg is an argument that is not verified: it cannot be read, or is not a dataset.
type refusedArg struct {
	arg string
	err error
}

// Refused returns the errors of the arguments that were refused.
func (w *work) Refused() []error {
	var all []error
	for _, r := range w.refused {
		all = append(all, r.err)
	}
	return all
}

// Problems returns a problem for each argument that was refused.
func (w *work) Problems() []verify.Problem {
	problems := []verify.Problem{}
	for _, r := range w.refused {
		p := verify.NewProblem(r.arg, r.arg, r.kind(), r.err)
		p.Text = strings.TrimPrefix(terminal.ErrorText(r.err), r.arg+": ") // the place of the problem has it
		problems = append(problems, p)
	}
	return problems
}

// kind returns the rule that an argument broke.
func (r *refusedArg) kind() verify.Kind {
	switch {
	case errors.Is(r.err, input.ErrNotFound):
		return verify.Missing
	case errors.Is(r.err, signature.ErrWrong):
		return ruleSignature
	case errors.Is(r.err, signature.ErrUnsigned), errors.Is(r.err, dataset.ErrNoSums):
		return ruleUnsigned
	case errors.Is(r.err, dataset.ErrManifest), errors.Is(r.err, dataset.ErrManifestVersion):
		return dataset.BadManifest
	case errors.Is(r.err, plan.ErrDamaged):
		return dataset.BadPlan
	case errors.Is(r.err, verify.ErrCorrupt):
		return ruleUnfinished
	case errors.Is(r.err, hint.ErrNoShards), errors.Is(r.err, format.ErrAnotherKind):
		return ruleNoShards
	}
	return verify.Unreadable
}

// Hint adds to an error how to repair a damaged dataset, if a repair is possible.
func (w *work) Hint(err error) error {
	if !errors.Is(err, verify.ErrCorrupt) {
		return err
	}
	for _, r := range w.Repairs() {
		if r.Possible {
			return fmt.Errorf("%w (ffconvert repair %s writes damaged files anew)", err, text.ShellWord(r.Out))
		}
	}
	return err
}
