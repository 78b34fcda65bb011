package mysqlfunc

import (
	"bytes"
	"compress/zlib"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"io"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Ciphers and compression of MySQL's dialect. They take and give binary strings.
func registerCrypt() {
	const b, text = types.Bytea, types.Text
	eval.Register(
		eval.Immutable("mysql:aes_encrypt", eval.Sig(text, b, b, b), eval.TBytea, eval.Row(aesEncrypt)),
		eval.Immutable("mysql:aes_decrypt", eval.Sig(text, b, b, b), eval.TBytea, eval.Row(aesDecrypt)),
		eval.Immutable("mysql:compress", eval.Sig(b), eval.TBytea, eval.Try1(zlibCompress)),
		eval.Immutable("mysql:uncompress", eval.Sig(b), eval.TBytea, eval.Try1(zlibUncompress)),
		eval.Immutable("mysql:uncompressed_length", eval.Sig(b), eval.TInt4, eval.Fn1(func(s []byte) int64 {
			if len(s) <= 4 {
				return 0
			}
			return int64(binary.LittleEndian.Uint32(s) & 0x3fffffff)
		})).NeverFails(),
		eval.Volatile("mysql:random_bytes", eval.Sig(types.Int8), eval.TBytea, eval.Try1(func(n int64) ([]byte, error) {
			if n < 1 || n > 1024 {
				return nil, sqlerr.New(sqlerr.NumericOutOfRange, "length value is out of range in 'random_bytes'")
			}
			out := make([]byte, n)
			_, err := rand.Read(out)
			return out, err
		})),
	)
}

// aesMode is a value of block_encryption_mode.
func aesMode(mode string, key, iv []byte) (cipher.Block, bool, error) {
	bits := map[string]int{"128": 16, "192": 24, "256": 32}
	parts := strings.Split(strings.ToLower(mode), "-")
	if len(parts) != 3 || bits[parts[1]] == 0 || parts[2] != "ecb" && parts[2] != "cbc" {
		return nil, false, sqlerr.New(sqlerr.FeatureNotSupported, "block_encryption_mode %s is not supported: aes-128-ecb, aes-256-cbc and their kin are", mode)
	}
	if parts[2] == "cbc" && len(iv) < aes.BlockSize {
		return nil, false, sqlerr.New(sqlerr.InvalidParameterValue, "The initialization vector supplied to aes_encrypt is too short. Must be at least 16 bytes long").
			WithNumber(1882)
	}
	// A key of another length is folded onto one that fits.
	folded := make([]byte, bits[parts[1]])
	for i, c := range key {
		folded[i%len(folded)] ^= c
	}
	block, err := aes.NewCipher(folded)
	return block, parts[2] == "cbc", err
}

func aesEncrypt(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	iv := []byte(a[3].Str())
	block, cbc, err := aesMode(a[0].Str(), []byte(a[2].Str()), iv)
	if err != nil {
		return types.Null, err
	}
	pad := aes.BlockSize - len(a[1].Str())%aes.BlockSize
	if err := room.Take(len(a[1].Str()) + pad); err != nil {
		return types.Null, err
	}
	out := append([]byte(a[1].Str()), bytes.Repeat([]byte{byte(pad)}, pad)...)
	if cbc {
		cipher.NewCBCEncrypter(block, iv[:aes.BlockSize]).CryptBlocks(out, out)
		return types.NewStr(string(out)), nil
	}
	for i := 0; i < len(out); i += aes.BlockSize {
		block.Encrypt(out[i:], out[i:])
	}
	return types.NewStr(string(out)), nil
}

// aesDecrypt gives NULL for what the key did not encrypt.
func aesDecrypt(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	iv := []byte(a[3].Str())
	block, cbc, err := aesMode(a[0].Str(), []byte(a[2].Str()), iv)
	if err != nil {
		return types.Null, err
	}
	if err := room.Take(len(a[1].Str())); err != nil {
		return types.Null, err
	}
	out := []byte(a[1].Str())
	if len(out) == 0 || len(out)%aes.BlockSize != 0 {
		return types.Null, nil
	}
	if cbc {
		cipher.NewCBCDecrypter(block, iv[:aes.BlockSize]).CryptBlocks(out, out)
	} else {
		for i := 0; i < len(out); i += aes.BlockSize {
			block.Decrypt(out[i:], out[i:])
		}
	}
	pad := int(out[len(out)-1])
	if pad < 1 || pad > aes.BlockSize || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return types.Null, nil
	}
	return types.NewStr(string(out[:len(out)-pad])), nil
}

// zlibCompress puts the length before the stream, as MySQL does.
func zlibCompress(s []byte) ([]byte, error) {
	if len(s) == 0 {
		return nil, nil
	}
	if err := room.Take(len(s)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, uint32(len(s)))
	w := zlib.NewWriter(&out)
	_, err := w.Write(s)
	if e := w.Close(); err == nil {
		err = e
	}
	b := out.Bytes()
	if b[len(b)-1] == ' ' {
		b = append(b, '.') // so that no column cuts it
	}
	return b, err
}

// zlibUncompress gives NULL for what is not compressed.
func zlibUncompress(s []byte) (types.Datum, error) {
	if len(s) == 0 {
		return types.NewStr(""), nil
	}
	if len(s) <= 4 {
		return types.Null, nil
	}
	n := int64(binary.LittleEndian.Uint32(s) & 0x3fffffff)
	if n > int64(eval.MaxString()) {
		return types.Null, eval.ErrTooLong()
	}
	r, err := zlib.NewReader(bytes.NewReader(s[4:]))
	if err != nil {
		return types.Null, nil
	}
	// The length is the data's word: it is believed as far as the stream goes.
	if err := room.Take(int(n)); err != nil {
		return types.Null, err
	}
	out, err := io.ReadAll(io.LimitReader(r, n+1))
	if err != nil || int64(len(out)) != n {
		return types.Null, nil
	}
	return types.NewStr(string(out)), nil
}
