package parquet

import (
	"encoding/binary"
	"math/bits"
)

// bitWidth is the width of the largest value.
func bitWidth(max uint32) int { return bits.Len32(max) }

// appendHybrid encodes values in the RLE and bit-packing hybrid (Parquet's Encodings.md, RLE):
// runs of eight or more equal values as runs, the rest bit-packed in groups of eight.
func appendHybrid[T uint8 | uint32](dst []byte, vals []T, width int) []byte {
	pending := 0 // start of the values that wait to be bit-packed
	for i := 0; i < len(vals); {
		j := i + 1
		for j < len(vals) && vals[j] == vals[i] {
			j++
		}
		// A run is worth its header only when the packed group before it is full.
		if fill := (8 - (i-pending)%8) % 8; j-i >= 8+fill {
			dst = appendPacked(dst, vals[pending:i+fill], width)
			dst = binary.AppendUvarint(dst, uint64(j-i-fill)<<1)
			x := uint32(vals[i])
			for k := 0; k < (width+7)/8; k++ {
				dst = append(dst, byte(x>>(8*k)))
			}
			pending = j
		}
		i = j
	}
	return appendPacked(dst, vals[pending:], width)
}

// appendPacked bit-packs vals, the last group padded with zeros.
func appendPacked[T uint8 | uint32](dst []byte, vals []T, width int) []byte {
	if len(vals) == 0 {
		return dst
	}
	groups := (len(vals) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	end := len(dst) + groups*width
	// Words are stored whole, up to 7 bytes beyond the end.
	dst, out := extend(dst, groups*width+8)
	var acc uint64
	n, at := 0, 0
	for _, x := range vals {
		acc |= uint64(x) << n
		if n += width; n >= 32 {
			binary.LittleEndian.PutUint32(out[at:], uint32(acc))
			acc >>= 32
			at += 4
			n -= 32
		}
	}
	binary.LittleEndian.PutUint64(out[at:], acc)
	clear(out[min(at+8, groups*width) : groups*width])
	return dst[:end]
}

// appendLevels encodes a page's levels with their length before them, as data page v1 wants.
func appendLevels(dst []byte, levels []uint8, max uint8) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = appendHybrid(dst, levels, bitWidth(uint32(max)))
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
