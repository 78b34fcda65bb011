package parquet

import (
	"bytes"
	"compress/gzip"
	"fmt"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec is a Parquet compression codec (parquet.thrift, CompressionCodec). The zero Codec is Zstd.
type Codec int32

const (
	Zstd         Codec = 0
	Uncompressed Codec = 1
	Snappy       Codec = 2
	Gzip         Codec = 3
	Brotli       Codec = 4
	Lz4Raw       Codec = 5
)

// wire is the codec's number in the format.
func (c Codec) wire() int64 {
	return [...]int64{Zstd: 6, Uncompressed: 0, Snappy: 1, Gzip: 2, Brotli: 4, Lz4Raw: 7}[c]
}

// ParseCodec reads write.parquet.compression-codec.
func ParseCodec(name string) (Codec, error) {
	switch name {
	case "", "zstd":
		return Zstd, nil
	case "uncompressed", "none":
		return Uncompressed, nil
	case "snappy":
		return Snappy, nil
	case "gzip":
		return Gzip, nil
	case "brotli":
		return Brotli, nil
	case "lz4", "lz4_raw":
		return Lz4Raw, nil
	}
	return 0, fmt.Errorf("unknown compression codec %q", name)
}

// Tools are what writing a page needs besides its values: a compressor and buffers. Files that
// one goroutine writes in turns share them, for a compressor's tables take a megabyte.
type Tools struct {
	made  bool
	codec Codec
	level int
	comp  *compressor
	raw   []byte // an encoded page
	frame []byte // a stored one
}

// use gets them ready for a codec.
func (t *Tools) use(c Codec, level int) (err error) {
	if t.made && t.codec == c && t.level == level {
		return nil
	}
	t.made, t.codec, t.level = true, c, level
	t.comp, err = newCompressor(c, level)
	return err
}

// compressor compresses pages into a buffer of its own.
type compressor struct {
	codec Codec
	zstd  *zstd.Encoder
	gz    *gzip.Writer
	br    *brotli.Writer
	lz    lz4.Compressor
	buf   []byte
}

func newCompressor(c Codec, level int) (*compressor, error) {
	x := &compressor{codec: c}
	switch c {
	case Zstd:
		// Level 1 unless asked: a third of level 3's work for files 4 % larger, measured on
		// TPC-H's lineitem.
		l := zstd.SpeedFastest
		if level != 0 {
			l = zstd.EncoderLevelFromZstd(level)
		}
		var err error
		x.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(l), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
		return x, err
	case Gzip:
		if level == 0 {
			level = gzip.DefaultCompression
		}
		var err error
		x.gz, err = gzip.NewWriterLevel(nil, level)
		return x, err
	case Brotli:
		if level == 0 {
			level = 3
		}
		x.br = brotli.NewWriterLevel(nil, level)
	}
	return x, nil
}

// compress gives src compressed; valid until the next call.
func (x *compressor) compress(src []byte) ([]byte, error) {
	switch x.codec {
	case Uncompressed:
		return src, nil
	case Zstd:
		x.buf = x.zstd.EncodeAll(src, x.buf[:0])
		return x.buf, nil
	case Snappy:
		x.buf = snappy.Encode(x.buf[:cap(x.buf)], src)
		return x.buf, nil
	case Lz4Raw:
		if n := lz4.CompressBlockBound(len(src)); cap(x.buf) < n {
			x.buf = make([]byte, n)
		}
		n, err := x.lz.CompressBlock(src, x.buf[:cap(x.buf)])
		return x.buf[:n], err
	}
	var out bytes.Buffer
	if x.codec == Gzip {
		x.gz.Reset(&out)
		if _, err := x.gz.Write(src); err != nil {
			return nil, err
		}
		if err := x.gz.Close(); err != nil {
			return nil, err
		}
		return out.Bytes(), nil
	}
	x.br.Reset(&out)
	if _, err := x.br.Write(src); err != nil {
		return nil, err
	}
	err := x.br.Close()
	return out.Bytes(), err
}
