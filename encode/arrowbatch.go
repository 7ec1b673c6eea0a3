package encode

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// Parts of an IPC stream: https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format.
const (
	arrowContinuation = 0xFFFFFFFF // before the size of a message
	arrowAlignment    = 8          // of messages, and of buffers in the body of one, bytes
	arrowVersion      = 4          // MetadataVersion.V5
	arrowBatch        = 3          // MessageHeader.RecordBatch
)

// batch writes a stream of the columns, which have one row.
func (a *arrowForm) batch(b *Builder) error {
	if err := a.schema(); err != nil {
		return err
	}
	b.Written = append(b.Written, a.head...)
	meta := a.message(1)
	b.Written = binary.LittleEndian.AppendUint32(b.Written, arrowContinuation)
	b.Written = binary.LittleEndian.AppendUint32(b.Written, uint32(len(meta)+arrowPadding(int64(len(meta)))))
	b.Written = append(b.Written, meta...)
	b.pad(int64(len(meta)))
	for i := range a.buffers {
		f := &a.buffers[i]
		if f.value != nil {
			b.Value(f.value)
		} else {
			b.Written = append(b.Written, f.data...)
		}
		b.pad(f.size())
	}
	b.Written = binary.LittleEndian.AppendUint32(b.Written, arrowContinuation)
	b.Written = binary.LittleEndian.AppendUint32(b.Written, 0) // the end of the stream
	return nil
}

// arrowPadding is how many bytes follow n bytes.
func arrowPadding(n int64) int { return int(-n & (arrowAlignment - 1)) }

func (b *Builder) pad(n int64) {
	var zeros [arrowAlignment]byte
	b.Written = append(b.Written, zeros[:arrowPadding(n)]...)
}

// schema sets a.head, by Arrow's writer.
func (a *arrowForm) schema() error {
	if a.head != nil && slices.EqualFunc(a.fields, a.headOf, sameField) {
		return nil
	}
	a.headOf = slices.Clone(a.fields)
	var out bytes.Buffer
	if err := ipc.NewWriter(&out, ipc.WithSchema(arrow.NewSchema(a.headOf, nil))).Close(); err != nil {
		return err
	}
	a.head = out.Bytes()[:out.Len()-8] // without the end
	return nil
}

func sameField(a, b arrow.Field) bool {
	return a.Name == b.Name && (a.Type == b.Type || arrow.TypeEqual(a.Type, b.Type, arrow.CheckMetadata()))
}

// message returns the metadata of the batch: a Message of a RecordBatch, as Message.fbs of Arrow has them, in the order in
// which Arrow's writer adds their fields.
func (a *arrowForm) message(rows int64) []byte {
	f := a.meta
	f.Reset()
	f.StartVector(16, len(a.nodes), 8)
	for i := len(a.nodes) - 1; i >= 0; i-- {
		f.Prep(8, 16)
		f.PrependInt64(a.nodes[i].nulls)
		f.PrependInt64(a.nodes[i].length)
	}
	nodes := f.EndVector(len(a.nodes))
	body := int64(0)
	for i := range a.buffers {
		n := a.buffers[i].size()
		body += n + int64(arrowPadding(n))
	}
	f.StartVector(16, len(a.buffers), 8)
	off := body
	for i := len(a.buffers) - 1; i >= 0; i-- {
		n := a.buffers[i].size()
		off -= n + int64(arrowPadding(n))
		f.Prep(8, 16)
		f.PrependInt64(n)
		f.PrependInt64(off)
	}
	buffers := f.EndVector(len(a.buffers))

	f.StartObject(5) // RecordBatch
	f.PrependInt64Slot(0, rows, 0)
	f.PrependUOffsetTSlot(1, nodes, 0)
	f.PrependUOffsetTSlot(2, buffers, 0)
	batch := f.EndObject()
	f.StartObject(5) // Message
	f.PrependInt16Slot(0, arrowVersion, 0)
	f.PrependByteSlot(1, arrowBatch, 0)
	f.PrependUOffsetTSlot(2, batch, 0)
	f.PrependInt64Slot(3, body, 0)
	f.Finish(f.EndObject())
	return f.FinishedBytes()
}
