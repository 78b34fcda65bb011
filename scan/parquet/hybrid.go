package parquet

import (
	"encoding/binary"
	"math/bits"

	"github.com/parquet-go/bitpack"

	"github.com/lhsql/lhsql/vec"
)

// hybrid streams the RLE/bit-packing hybrid (Encodings.md, "RLE"): dictionary codes, levels.
type hybrid struct {
	b     []byte
	p     int
	w     uint
	rle   int    // values left in a repeated run
	val   uint32 // its value
	bp    int    // values left in a bit-packed run, from b[p] on
	group [8]uint32
	gp    int // group[gp:gn] are decoded and not handed out yet
	gn    int
}

func (h *hybrid) reset(b []byte, w uint) error {
	if w > 32 {
		return corrupt("bit width %d", w)
	}
	h.b, h.p, h.w, h.rle, h.bp, h.gp, h.gn = b, 0, w, 0, 0, 0, 0
	return nil
}

// run reads the next run's header.
func (h *hybrid) run() error {
	head, n := binary.Uvarint(h.b[h.p:])
	if n <= 0 || head > 1<<32 {
		return corrupt("levels or codes end early")
	}
	h.p += n
	if head&1 == 0 {
		h.rle = int(head >> 1)
		nb := int(h.w+7) / 8
		if nb > len(h.b)-h.p {
			return corrupt("levels or codes end early")
		}
		h.val = 0
		for i := 0; i < nb; i++ {
			h.val |= uint32(h.b[h.p+i]) << (8 * i)
		}
		h.p += nb
		// Readers rely on values of w bits: a run's value has whole bytes.
		if h.w < 32 && h.val>>h.w != 0 {
			return corrupt("a run of %d where values have %d bits", h.val, h.w)
		}
		return nil
	}
	h.bp = int(head>>1) * 8
	// The last group may lack bytes behind the last value that counts.
	if h.w > 0 {
		h.bp = min(h.bp, (len(h.b)-h.p)*8/int(h.w))
	}
	if h.bp == 0 && head > 1 {
		return corrupt("levels or codes end early")
	}
	return nil
}

// read fills dst.
func (h *hybrid) read(dst []uint32) error {
	for len(dst) > 0 {
		switch {
		case h.gp < h.gn:
			n := copy(dst, h.group[h.gp:h.gn])
			h.gp += n
			dst = dst[n:]
		case h.rle > 0:
			n := min(h.rle, len(dst))
			fill(dst[:n], h.val)
			h.rle -= n
			dst = dst[n:]
		case h.bp > 0:
			n := min(h.bp, len(dst)) &^ 7
			if n == 0 {
				h.decodeGroup()
				continue
			}
			nb := n / 8 * int(h.w)
			unpack(dst[:n], h.b[h.p:], h.w)
			h.p += nb
			h.bp -= n
			dst = dst[n:]
		default:
			if err := h.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeGroup decodes up to 8 values to the side, for reads that do not end at a group's end.
func (h *hybrid) decodeGroup() {
	m := min(8, h.bp)
	nb := min(int(h.w), len(h.b)-h.p)
	unpackTail(h.group[:m], h.b[h.p:h.p+nb], h.w)
	h.p += nb
	h.bp -= m
	h.gp, h.gn = 0, m
}

// skip passes over n values without unpacking them.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		switch {
		case h.gp < h.gn:
			m := min(n, h.gn-h.gp)
			h.gp += m
			n -= m
		case h.rle > 0:
			m := min(n, h.rle)
			h.rle -= m
			n -= m
		case h.bp > 0:
			m := min(h.bp, n) &^ 7
			if m == 0 {
				h.decodeGroup()
				continue
			}
			h.p += m / 8 * int(h.w)
			h.bp -= m
			n -= m
		default:
			if err := h.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

func fill(dst []uint32, v uint32) {
	for i := range dst {
		dst[i] = v
	}
}

// unpack unpacks len(dst) values, a multiple of 8, of w bits each from b.
func unpack(dst []uint32, b []byte, w uint) {
	if w == 0 {
		clear(dst)
		return
	}
	need := len(dst) / 8 * int(w)
	if cap(b) >= need+bitpack.PaddingInt32 {
		bitpack.Unpack(dst, b[:need+bitpack.PaddingInt32], w)
		return
	}
	// No slack behind the input: the kernel takes what leaves it some, the loop the rest.
	m := len(dst)
	for m > 0 && m/8*int(w)+bitpack.PaddingInt32 > cap(b) {
		m -= 8
	}
	if m > 0 {
		bitpack.Unpack(dst[:m], b[:m/8*int(w)+bitpack.PaddingInt32], w)
	}
	unpackTail(dst[m:], b[m/8*int(w):need], w)
}

// unpackTail is unpack one by one, reading nothing behind b; values beyond it are 0.
func unpackTail(dst []uint32, b []byte, w uint) {
	mask := uint64(1)<<w - 1
	for i := range dst {
		bit := uint(i) * w
		var x uint64
		for j, at := 0, int(bit/8); j < 5 && at+j < len(b); j++ {
			x |= uint64(b[at+j]) << (8 * j)
		}
		dst[i] = uint32(x >> (bit % 8) & mask)
	}
}

// bits streams a hybrid of width 1 as bits: the definition levels of a flat optional column.
// Run bytes are copied into the bitmap as they are.
type levelBits struct {
	b   []byte
	p   int
	rle int
	one bool
	bp  int // bits left in a bit-packed run
	off int // bit offset of the next within b[p:]
}

func (l *levelBits) reset(b []byte) { *l = levelBits{b: b} }

func (l *levelBits) run() error {
	head, n := binary.Uvarint(l.b[l.p:])
	if n <= 0 || head > 1<<32 {
		return corrupt("definition levels end early")
	}
	l.p += n
	if head&1 == 0 {
		if l.p >= len(l.b) {
			return corrupt("definition levels end early")
		}
		l.rle = int(head >> 1)
		v := l.b[l.p]
		if v > 1 {
			return corrupt("definition level %d where 1 is the highest", v)
		}
		l.one = v == 1
		l.p++
		return nil
	}
	l.bp = min(int(head>>1)*8, (len(l.b)-l.p)*8)
	l.off = 0
	if l.bp == 0 && head > 1 {
		return corrupt("definition levels end early")
	}
	return nil
}

// read puts n bits into dst from bit at on, and counts those set. dst nil: counts only.
func (l *levelBits) read(dst vec.Bitmap, at, n int) (set int, err error) {
	for n > 0 {
		switch {
		case l.rle > 0:
			m := min(n, l.rle)
			if l.one {
				set += m
			}
			if dst != nil {
				setBits(dst, at, m, l.one)
			}
			l.rle -= m
			at += m
			n -= m
		case l.bp > 0:
			m := min(n, l.bp)
			set += copyBits(dst, at, l.b[l.p:], l.off, m)
			l.off += m
			l.bp -= m
			if l.bp == 0 {
				l.p += (l.off + 7) / 8
			}
			at += m
			n -= m
		default:
			if err := l.run(); err != nil {
				return set, err
			}
		}
	}
	return set, nil
}

// setBits sets or clears bits [at, at+n) of dst.
func setBits(dst vec.Bitmap, at, n int, one bool) {
	for n > 0 {
		w, o := at>>6, at&63
		m := min(n, 64-o)
		mask := (^uint64(0) >> (64 - m)) << o
		if one {
			dst[w] |= mask
		} else {
			dst[w] &^= mask
		}
		at += m
		n -= m
	}
}

// copyBits copies n bits of src from bit off on to dst from bit at on, and counts those set.
func copyBits(dst vec.Bitmap, at int, src []byte, off, n int) (set int) {
	for n > 0 {
		m := min(n, 64-at&63, 56)
		var x uint64
		if i := off >> 3; i+8 <= len(src) {
			x = binary.LittleEndian.Uint64(src[i:])
		} else {
			for j := 0; i+j < len(src); j++ {
				x |= uint64(src[i+j]) << (8 * j)
			}
		}
		x = x >> (off & 7) & (^uint64(0) >> (64 - m))
		set += bits.OnesCount64(x)
		if dst != nil {
			mask := (^uint64(0) >> (64 - m)) << (at & 63)
			dst[at>>6] = dst[at>>6]&^mask | x<<(at&63)
		}
		at += m
		off += m
		n -= m
	}
	return set
}
