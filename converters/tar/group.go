package tar

import (
	"bytes"
	"fmt"

	"github.com/ffconvert/ffconvert/internal/text"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Reasons for skipping a member.
const (
	skipDirectory = "directory"
	skipSymlink   = "symbolic link"
	skipHardLink  = "hard link"
	skipChar      = "character device"
	skipBlock     = "block device"
	skipFIFO      = "fifo"
	skipVolume    = "volume label"
	skipNoKey     = "name without key"
	skipMetaName  = "metadata name"
	skipBad       = "sample marked __bad__"
)

// An event is the result of scanner.next.
type event int

const (
	eventEnd    event = iota // the end of the members; trailer reads the rest
	eventSample              // scanner.group is complete
	eventSkip                // scanner.ahead is skipped, for scanner.reason
	eventBad                 // scanner.group is complete, and is skipped
)

// A scanner groups the members of one part into samples. Index and Read both use it, so that they find the same
// samples.
type scanner struct {
	members
	max   int64             // maximum of one sample, bytes
	load  func(string) bool // fields to read at once; nil: none
	sizes bool              // skip the payload of all fields that load excludes
	group group
	class *class // class of all samples; nil: no classes

	ahead  member // the member that was read last
	key    []byte // key of ahead, if it is a field
	suffix []byte // suffix of ahead, if it is a field
	reason string // reason for skipping ahead; "" if it is a field
	held   bool   // ahead is not in a group yet
	ended  bool   // next has returned the last sample
}

// A group collects the members of one sample.
type group struct {
	sample converters.Sample // with sizes of fields
	bytes  int64             // payload plus a block for each member
	files  int               // fields that are members
	open   bool              // more members may follow
	fields scan.FieldSet     // the names of its fields
	bad    bool              // it has a badField with payload
	pathed bool              // it has a localPathField
	names  scan.FieldNames
}

func (s *scanner) reset(c *scan.Window, p converters.Part, o *Options) {
	s.members.reset(c, p, o.MaxHeader)
	s.max, s.load, s.sizes, s.class, s.held, s.ended, s.group.open = o.MaxSample, nil, false, nil, false, false, false
}

// next returns the next event. The group of an eventSample or eventBad is valid until the following call.
func (s *scanner) next() (event, error) {
	if s.ended {
		s.ended = false
		return eventEnd, nil
	}
	for {
		if !s.held {
			ok, err := s.members.next(&s.ahead)
			switch {
			case err != nil:
				return eventEnd, err
			case !ok && s.group.open:
				s.ended = true
				return s.end(), nil
			case !ok:
				return eventEnd, nil
			}
			if err := s.classify(); err != nil {
				return eventEnd, err
			}
			if s.reason != "" {
				s.c.Skip(padded(s.ahead.size))
				return eventSkip, nil
			}
			if s.group.open && string(s.key) != s.group.sample.Key {
				s.held = true
				return s.end(), nil
			}
		}
		s.held = false
		if err := s.add(); err != nil {
			return eventEnd, err
		}
	}
}

// classify sets key and suffix of the member ahead if it is a field, else the reason for skipping it.
func (s *scanner) classify() error {
	m := &s.ahead
	s.reason = ""
	switch m.typ {
	case typeDirectory:
		s.reason = skipDirectory
	case typeSymlink:
		s.reason = skipSymlink
	case typeChar:
		s.reason = skipChar
	case typeBlock:
		s.reason = skipBlock
	case typeFIFO:
		s.reason = skipFIFO
	case typeVolume:
		s.reason = skipVolume
	default:
		if isMetaName(m.name) {
			s.reason = skipMetaName
			break
		}
		var ok bool
		if s.key, s.suffix, ok = splitName(m.name); !ok {
			s.reason = skipNoKey
			break
		}
		if m.typ == typeHardLink {
			return s.fail(m.off, m.name, fmt.Errorf("%w: a hard link in place of a field, its bytes are another member's", converters.ErrUnsupported),
				"write the tar with GNU tar's --hard-dereference")
		}
		if err := checkName(m.name); err != nil {
			return s.fail(m.off, m.name, err, "")
		}
	}
	if m.typ == typeHardLink {
		s.reason = skipHardLink
	}
	return nil
}

// add adds the member ahead to the group as a field. If no group is open it begins a new one.
func (s *scanner) add() error {
	m, g := &s.ahead, &s.group
	if !g.open {
		s.c.Relax()
		g.open, g.bytes, g.bad, g.pathed = true, 0, false, false
		g.fields.Reset()
		if s.class != nil && !s.class.own {
			g.fields.Add(classField)
		}
		g.sample = converters.Sample{Key: string(s.key), Off: m.off, Fields: g.sample.Fields[:0]}
	}
	name, err := g.names.Of(s.suffix)
	if err != nil {
		return s.fail(m.off, m.name, err, "")
	}
	if !g.fields.Add(name) {
		hint := ""
		if s.class != nil && !s.class.own && name == classField {
			hint = "the number of the tar has that name: samples have a field cls all or none, and only without option classes and without a label beside the tar"
		}
		return s.fail(m.off, m.name, fmt.Errorf("%w field %q in sample %q", converters.ErrDuplicate, name, g.sample.Key), hint)
	}
	if m.size > s.max-g.bytes-blockSize {
		return s.fail(m.off, m.name, fmt.Errorf("%w: sample %q has more than %s", converters.ErrLimit, g.sample.Key, text.Count(s.max, "byte")), "option max-sample-size")
	}
	g.bytes += m.size + blockSize
	switch name {
	case badField:
		g.bad = m.size > 0
	case localPathField:
		g.pathed = true
	}
	value := converters.Opaque(m.size)
	if s.load != nil && s.load(name) {
		data, err := s.c.Peek(int(m.size))
		if err != nil {
			return s.fail(m.off, m.name, err, "")
		}
		value = converters.Bytes(bytes.Clone(data))
	}
	g.sample.Fields = append(g.sample.Fields, converters.Field{Name: name, Value: value})
	if s.sizes {
		s.c.Skip(padded(m.size))
		return nil
	}
	if err := s.c.Keep(int(m.size)); err != nil {
		return s.fail(m.off, m.name, err, "")
	}
	s.c.Skip(padded(m.size) - m.size)
	return nil
}

func (s *scanner) end() event {
	g := &s.group
	g.open, g.files = false, len(g.sample.Fields)
	if c := s.class; c != nil {
		g.sample.Key = c.prefix + g.sample.Key
	}
	if c := s.class; c != nil && !c.own {
		g.sample.Fields = append(g.sample.Fields, converters.Field{Name: classField, Value: converters.Int(c.number)})
	}
	if g.bad {
		return eventBad
	}
	return eventSample
}
