package dataset

import (
	"context"
	"os"

	"github.com/ffconvert/ffconvert/verify"
)

// Verify reads a finished dataset again and compares it with its manifest: all shards, the indexes and meta.json. It
// compares the plan and the journal, which a repair needs, with the manifest, too. how.Progress counts shards alone.
func (m *Manifest) Verify(ctx context.Context, dir string, how verify.Options) (*verify.Report, *Repairable, error) {
	report, err := verify.Dataset(ctx, dir, m.Expect(), how)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	how.Progress = nil
	problems, from, err := verify.Sums(ctx, root, m.Sums(), how)
	if err != nil {
		return nil, nil, err
	}
	repair, err := CheckKept(dir, m)
	if err != nil {
		return nil, nil, err
	}
	report.Problems = append(append(report.Problems, problems...), repair.Problems...)
	report.From = report.From.And(from)
	return report, repair, nil
}
