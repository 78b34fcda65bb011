package parquet

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompressor turns pages' bytes back, without allocating once it is warm. One per goroutine.
type decompressor struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
	src    bytes.Reader
	one    [1]byte
}

func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
		d.zstd = nil
	}
}

// zstdSlack is more than the 16 bytes that zstd's fast copies may write too far. Pages' buffers
// have it (see grow).
const zstdSlack = 64

// into decompresses src into dst, whose length is what the page header promised; anything else
// is an error.
func (d *decompressor) into(codec Codec, dst, src []byte) error {
	if len(dst) == 0 && len(src) == 0 {
		return nil
	}
	n, err := d.run(codec, dst, src)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return corrupt("a page decompresses to %d bytes, its header says %d", n, len(dst))
	}
	return nil
}

func (d *decompressor) run(codec Codec, dst, src []byte) (int, error) {
	switch codec {
	case Snappy:
		n, err := snappy.DecodedLen(src)
		if err != nil || n != len(dst) {
			return 0, corrupt("snappy page of %d bytes, its header says %d", n, len(dst))
		}
		if _, err := snappy.Decode(dst, src); err != nil {
			return 0, corrupt("snappy: %v", err)
		}
		return n, nil
	case Zstd:
		if d.zstd == nil {
			z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(false),
				zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(1<<31))
			if err != nil {
				return 0, err
			}
			d.zstd = z
		}
		// With room behind the page the decoder copies in blocks of 16 bytes, which may overrun
		// its end, instead of byte by byte.
		out, err := d.zstd.DecodeAll(src, dst[:0:min(cap(dst), len(dst)+zstdSlack)])
		if err != nil {
			return 0, corrupt("zstd: %v", err)
		}
		return len(out), nil
	case LZ4Raw:
		n, err := lz4.UncompressBlock(src, dst)
		if err != nil {
			return 0, corrupt("lz4: %v", err)
		}
		return n, nil
	case LZ4:
		return unLZ4(dst, src)
	case Gzip:
		d.src.Reset(src)
		var err error
		if d.gzip == nil {
			d.gzip, err = gzip.NewReader(&d.src)
		} else {
			err = d.gzip.Reset(&d.src)
		}
		if err != nil {
			return 0, corrupt("gzip: %v", err)
		}
		return d.stream(d.gzip, dst, "gzip")
	case Brotli:
		d.src.Reset(src)
		if d.brotli == nil {
			d.brotli = brotli.NewReader(&d.src)
		} else if err := d.brotli.Reset(&d.src); err != nil {
			return 0, corrupt("brotli: %v", err)
		}
		return d.stream(d.brotli, dst, "brotli")
	}
	return 0, unsupported("compression codec %d", codec)
}

// stream fills dst from r and makes sure that nothing follows.
func (d *decompressor) stream(r io.Reader, dst []byte, name string) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err != nil && (err != io.EOF || len(dst) > 0) {
		return 0, corrupt("%s: %v", name, err)
	}
	if m, err := io.ReadFull(r, d.one[:]); m != 0 || err != io.EOF {
		return 0, corrupt("%s: a page is longer than its header says", name)
	}
	return n, nil
}

// unLZ4 reads the deprecated LZ4 codec: Hadoop's frames (big-endian plain and compressed
// length, block, …), or, as some writers have it, a bare block.
func unLZ4(dst, src []byte) (int, error) {
	if n, ok := unHadoopLZ4(dst, src); ok {
		return n, nil
	}
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return 0, corrupt("lz4: %v", err)
	}
	return n, nil
}

func unHadoopLZ4(dst, src []byte) (int, bool) {
	n := 0
	for len(src) >= 8 {
		plain := int64(binary.BigEndian.Uint32(src))
		packed := int64(binary.BigEndian.Uint32(src[4:]))
		src = src[8:]
		if packed > int64(len(src)) || plain > int64(len(dst)-n) {
			return 0, false
		}
		m, err := lz4.UncompressBlock(src[:packed], dst[n:n+int(plain)])
		if err != nil || int64(m) != plain {
			return 0, false
		}
		n += m
		src = src[packed:]
	}
	return n, len(src) == 0 && n == len(dst)
}
