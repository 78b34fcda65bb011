package parquet

import "encoding/binary"

// Pages of packed codes often have nothing left to compress. Trying costs more than the rest of
// writing them, and decoding them more than a copy: after a page that stayed as large as it was,
// its leaf's next ones are stored, and one in every storedRun is tried again.
//
// stored counts down the pages to store.
func (w *Writer) compress(l *leaf, raw []byte) ([]byte, error) {
	if w.opt.Codec == Zstd && l.stored > 0 {
		l.stored--
		w.tools.frame = appendStored(w.tools.frame[:0], raw)
		return w.tools.frame, nil
	}
	body, err := w.tools.comp.compress(raw)
	if err == nil && len(raw) >= minStored && len(body)*100 >= len(raw)*incompressible {
		l.stored = storedRun
	}
	return body, err
}

const (
	storedRun      = 15
	minStored      = 4 << 10 // smaller pages say little about their column
	incompressible = 97      // percent that are left
)

// appendStored appends a zstd frame of raw blocks (RFC 8878, 3.1.1).
func appendStored(dst, raw []byte) []byte {
	const magic, single, maxBlock = 0xFD2FB528, 1 << 5, 128 << 10
	dst = binary.LittleEndian.AppendUint32(dst, magic)
	// A single segment whose content size takes 4 bytes.
	dst = append(dst, 2<<6|single)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(raw)))
	for {
		n := min(len(raw), maxBlock)
		head := uint32(n) << 3 // block type 0: raw
		if n == len(raw) {
			head |= 1 // the last
		}
		dst = append(dst, byte(head), byte(head>>8), byte(head>>16))
		dst = append(dst, raw[:n]...)
		if raw = raw[n:]; len(raw) == 0 {
			return dst
		}
	}
}
