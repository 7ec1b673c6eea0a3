package plan

import (
	"context"
	"fmt"
	"path"

	"github.com/ffconvert/ffconvert/converters"
)

// CheckParts returns how parts differ from the plan's.
func (p *Plan) CheckParts(ctx context.Context, parts []converters.Part, known *Contents) error {
	if len(parts) != len(p.Parts) {
		return fmt.Errorf("%w: the dataset was made of %d sources, here are %d", converters.ErrChanged, len(p.Parts), len(parts))
	}
	for i := range parts {
		was, is := &p.Parts[i], &parts[i]
		if path.Base(was.Name) != path.Base(KeptName(is.Name)) {
			return fmt.Errorf("%w: source %d was %q, here it is %q", converters.ErrChanged, i+1, was.Name, is.Name)
		}
		if err := was.sameContent(ctx, is, known); err != nil {
			return err
		}
		if (is.Path != "" || p.Whole) && was.Size != is.Size {
			return ErrorChanged(is.Name, fmt.Sprintf("it had %d bytes when it was converted, it has %d", was.Size, is.Size))
		}
	}
	return nil
}
