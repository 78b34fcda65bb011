package lake

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"math"
	"sort"
	"sync"

	"github.com/klauspost/compress/flate"
)

// avroWriter builds an object container file in memory (Avro specification 1.11), deflated as
// other Iceberg writers do.
type avroWriter struct {
	out   bytes.Buffer
	sync  [16]byte
	block avroOut
	rows  int64
}

// avroBlockSize is where a block ends: readers decompress blocks one by one.
const avroBlockSize = 64 << 10

func newAvroWriter(schema any, meta map[string]string) (*avroWriter, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	w := &avroWriter{}
	if _, err := rand.Read(w.sync[:]); err != nil {
		return nil, err
	}
	all := map[string]string{"avro.schema": string(text), "avro.codec": "deflate"}
	for k, v := range meta {
		all[k] = v
	}
	keys := make([]string, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var h avroOut
	h.long(int64(len(keys)))
	for _, k := range keys {
		h.str(k)
		h.str(all[k])
	}
	h.long(0)
	w.out.WriteString("Obj\x01")
	w.out.Write(h.b)
	w.out.Write(w.sync[:])
	return w, nil
}

// endRow closes a record that was written to block.
func (w *avroWriter) endRow() error {
	w.rows++
	if len(w.block.b) < avroBlockSize {
		return nil
	}
	return w.flush()
}

// deflaters are kept: one takes longer to make than a small manifest to deflate.
var deflaters = sync.Pool{New: func() any {
	f, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		panic(err) // not a level
	}
	return f
}}

func (w *avroWriter) flush() error {
	if w.rows == 0 {
		return nil
	}
	var z bytes.Buffer
	f := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(f)
	f.Reset(&z)
	if _, err := f.Write(w.block.b); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	var h avroOut
	h.long(w.rows)
	h.long(int64(z.Len()))
	w.out.Write(h.b)
	w.out.Write(z.Bytes())
	w.out.Write(w.sync[:])
	w.block.b, w.rows = w.block.b[:0], 0
	return nil
}

func (w *avroWriter) finish() ([]byte, error) {
	err := w.flush()
	return w.out.Bytes(), err
}

// avroOut appends Avro's binary encoding.
type avroOut struct{ b []byte }

func (o *avroOut) long(v int64) { o.b = binary.AppendUvarint(o.b, uint64(v<<1)^uint64(v>>63)) }
func (o *avroOut) bytes(p []byte) {
	o.long(int64(len(p)))
	o.b = append(o.b, p...)
}
func (o *avroOut) str(s string) {
	o.long(int64(len(s)))
	o.b = append(o.b, s...)
}
func (o *avroOut) boolean(v bool) {
	if v {
		o.b = append(o.b, 1)
		return
	}
	o.b = append(o.b, 0)
}
func (o *avroOut) float(f float32) { o.b = binary.LittleEndian.AppendUint32(o.b, math.Float32bits(f)) }
func (o *avroOut) double(f float64) {
	o.b = binary.LittleEndian.AppendUint64(o.b, math.Float64bits(f))
}

// null and some choose the branch of an optional: ["null", T].
func (o *avroOut) null() { o.b = append(o.b, 0) }
func (o *avroOut) some() { o.b = append(o.b, 2) }

func (o *avroOut) optLong(v *int64) {
	if v == nil {
		o.null()
		return
	}
	o.some()
	o.long(*v)
}

func (o *avroOut) optBytes(p []byte) {
	if p == nil {
		o.null()
		return
	}
	o.some()
	o.bytes(p)
}
