package look

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/verify"
)

// proves reports whether the report says what was compared.
func (v *Verifier) proves() bool { return v.key != nil || v.SHA256 || v.Sample.text != "" }

// manifest reads the manifest of a dataset that arg names, nil if there is none. With Key, it checks the signature of the
// bytes before it parses them.
func (v *Verifier) manifest(d *dataset.Dataset, arg string) (*dataset.Manifest, error) {
	if v.key == nil {
		m, err := d.Manifest()
		if err == nil && m != nil && v.SHA256 && m.Root == "" {
			err = fmt.Errorf("%s: %w (ffconvert finish --sha256 %s adds them)", arg, dataset.ErrNoSums, text.ShellWord(arg))
		}
		return m, err
	}
	data, signed, err := dataset.ReadSigned(d.Path(""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := v.key.Check(data, signed); err != nil {
		if errors.Is(err, signature.ErrUnsigned) {
			return nil, fmt.Errorf("%s: %w: there is no %s", arg, err, dataset.SignatureName)
		}
		return nil, fmt.Errorf("%s: %w", d.At(dataset.SignatureName), err)
	}
	m, err := dataset.ParseManifest(d.At(dataset.ManifestName), data)
	if err == nil && m.Root == "" {
		err = fmt.Errorf("%s: %w, and so they are not signed (ffconvert sign reads all files, and adds them)", arg, dataset.ErrNoSums)
	}
	return m, err
}

// proof describes for the report what was compared beyond checksums, or of which shards; nil: the checksums of all.
func (v *Verifier) proof(m *dataset.Manifest, read int) *verify.Proof {
	if !v.proves() {
		return nil
	}
	is := &verify.Proof{SHA256: m.Root != "", Root: m.Root, Read: read, Of: len(m.Shards)}
	if v.key != nil {
		is.SignedBy = v.key.ID()
	}
	if v.Sample.text != "" {
		is.Seed = &v.Sample.Seed
	}
	return is
}

// unsigned adds to a report the indexes that the manifest does not list, which no signature covers.
func (d *verifiedDataset) unsigned(report *verify.Report) error {
	names, err := d.Extra(d.manifest)
	for _, name := range names {
		report.Problems = append(report.Problems, verify.NewProblem(d.At(name), name, verify.Extra, errors.New("it is not in the signed manifest: remove it")))
	}
	return err
}

// A sampleValue is the value of --sample.
type sampleValue struct {
	text string // "": all shards are read
	dataset.Sample
}

func (v *sampleValue) String() string { return v.text }
func (v *sampleValue) Type() string   { return "number|percent" }

func (v *sampleValue) Set(text string) error {
	number, share := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(text)
	percent := 0.0
	if share {
		n = 0
		percent, err = strconv.ParseFloat(number, 64)
	}
	switch {
	case err != nil, share && (!(percent > 0 && percent <= 100) || strings.ContainsAny(number, "xXpP_")), !share && n < 1:
		return errors.New("want a share above 0%, as in 1%, 100% at most, or a number of shards")
	}
	v.text, v.Percent, v.Shards = text, percent, n
	return nil
}
