package pgfunc

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Binary strings: PostgreSQL's chapter 9.5.
func registerBytea() {
	const b, i4, i8, text = types.Bytea, types.Int4, types.Int8, types.Text
	eval.Register(
		eval.Immutable("length", eval.Sig(b), eval.TInt4, eval.Fn1(func(s []byte) int { return len(s) })).NeverFails(),
		eval.Immutable("octet_length", eval.Sig(b), eval.TInt4, eval.Fn1(func(s []byte) int { return len(s) })).NeverFails(),
		eval.Immutable("bit_length", eval.Sig(b), eval.TInt4, eval.Fn1(func(s []byte) int { return 8 * len(s) })).NeverFails(),
		eval.Immutable("substr", eval.Sig(b, i4), eval.TBytea, eval.Fn2(byteaFrom)).NeverFails(),
		eval.Immutable("substring", eval.Sig(b, i4), eval.TBytea, eval.Fn2(byteaFrom)).NeverFails(),
		eval.Immutable("substr", eval.Sig(b, i4, i4), eval.TBytea, eval.Try3(byteaSub)),
		eval.Immutable("substring", eval.Sig(b, i4, i4), eval.TBytea, eval.Try3(byteaSub)),
		eval.Immutable("overlay", eval.Sig(b, b, i4), eval.TBytea, eval.Try3(func(s, by string, at int64) (string, error) {
			return byteaOverlay(s, by, at, int64(len(by)))
		})),
		eval.Immutable("overlay", eval.Sig(b, b, i4, i4), eval.TBytea, eval.Try4(byteaOverlay)),
		eval.Immutable("position", eval.Sig(b, b), eval.TInt4, eval.Fn2(func(s, sub string) int { return strings.Index(s, sub) + 1 })).NeverFails(),
		eval.Immutable("btrim", eval.Sig(b, b), eval.TBytea, eval.Fn2(func(s, set string) string { return trimBytes(s, set, true, true) })).NeverFails(),
		eval.Immutable("ltrim", eval.Sig(b, b), eval.TBytea, eval.Fn2(func(s, set string) string { return trimBytes(s, set, true, false) })).NeverFails(),
		eval.Immutable("rtrim", eval.Sig(b, b), eval.TBytea, eval.Fn2(func(s, set string) string { return trimBytes(s, set, false, true) })).NeverFails(),
		eval.Immutable("get_byte", eval.Sig(b, i4), eval.TInt4, eval.Try2(getByte)),
		eval.Immutable("set_byte", eval.Sig(b, i4, i4), eval.TBytea, eval.Try3(setByte)),
		eval.Immutable("get_bit", eval.Sig(b, i8), eval.TInt4, eval.Try2(getBit)),
		eval.Immutable("set_bit", eval.Sig(b, i8, i4), eval.TBytea, eval.Try3(setBit)),
		eval.Immutable("bit_count", eval.Sig(b), eval.TInt8, eval.Fn1(bitCount)).NeverFails(),
		eval.Immutable("md5", eval.Sig(text), eval.TText, eval.Ask1(md5Hex)).NeverFails(),
		eval.Immutable("md5", eval.Sig(b), eval.TText, eval.Ask1(md5Hex)).NeverFails(),
		eval.Immutable("sha224", eval.Sig(b), eval.TBytea, eval.Ask1(func(c *eval.Ctx, s []byte) ([]byte, error) { return digest(c, sha256.New224(), s) })).NeverFails(),
		eval.Immutable("sha256", eval.Sig(b), eval.TBytea, eval.Ask1(func(c *eval.Ctx, s []byte) ([]byte, error) { return digest(c, sha256.New(), s) })).NeverFails(),
		eval.Immutable("sha384", eval.Sig(b), eval.TBytea, eval.Ask1(func(c *eval.Ctx, s []byte) ([]byte, error) { return digest(c, sha512.New384(), s) })).NeverFails(),
		eval.Immutable("sha512", eval.Sig(b), eval.TBytea, eval.Ask1(func(c *eval.Ctx, s []byte) ([]byte, error) { return digest(c, sha512.New(), s) })).NeverFails(),
		eval.Immutable("encode", eval.Sig(b, text), eval.TText, eval.Try2(encode)),
		eval.Immutable("decode", eval.Sig(text, text), eval.TBytea, eval.Try2(decode)),
		eval.Stable("convert_from", eval.Sig(b, types.Name), eval.TText, eval.Try2(convertFrom)),
		eval.Stable("convert_to", eval.Sig(text, types.Name), eval.TBytea, eval.Try2(convertTo)),
		eval.Stable("convert", eval.Sig(b, types.Name, types.Name), eval.TBytea, eval.Try3(func(s, from, to string) (string, error) {
			u, err := convertFrom(s, from)
			if err != nil {
				return "", err
			}
			return convertTo(u, to)
		})),
		eval.Stable("length", eval.Sig(b, types.Name), eval.TInt4, eval.Try2(func(s, enc string) (int, error) {
			u, err := convertFrom(s, enc)
			return utf8.RuneCountInString(u), err
		})),
	)
}

func md5Hex(c *eval.Ctx, s []byte) (string, error) {
	h, err := digest(c, md5.New(), s)
	return hex.EncodeToString(h), err
}

// digest is h of s; it looks now and then whether anybody waits for it.
func digest(c *eval.Ctx, h hash.Hash, s []byte) ([]byte, error) {
	for piece := range slices.Chunk(s, 1<<22) {
		if err := c.Alive(); err != nil {
			return nil, err
		}
		h.Write(piece)
	}
	return h.Sum(nil), nil
}

func byteaFrom(s string, from int64) string {
	return s[min(max(from-1, 0), int64(len(s))):]
}

func byteaSub(s string, from, n int64) (string, error) {
	if n < 0 {
		return "", errNegativeSubstring()
	}
	end := min(from+n-1, int64(len(s)))
	from = min(max(from-1, 0), int64(len(s)))
	if end <= from {
		return "", nil
	}
	return s[from:end], nil
}

func byteaOverlay(s, by string, at, n int64) (string, error) {
	if at <= 0 {
		return "", errNegativeSubstring()
	}
	head, err := byteaSub(s, 1, at-1)
	return head + by + byteaFrom(s, at+n), err
}

func trimBytes(s, set string, front, back bool) string {
	for front && s != "" && strings.IndexByte(set, s[0]) >= 0 {
		s = s[1:]
	}
	for back && s != "" && strings.IndexByte(set, s[len(s)-1]) >= 0 {
		s = s[:len(s)-1]
	}
	return s
}

func errIndexRange(i int64, n int) error {
	return sqlerr.New(sqlerr.ArraySubscript, "index %d out of valid range, 0..%d", i, n-1)
}

func getByte(s []byte, i int64) (int, error) {
	if i < 0 || i >= int64(len(s)) {
		return 0, errIndexRange(i, len(s))
	}
	return int(s[i]), nil
}

func setByte(s []byte, i, v int64) ([]byte, error) {
	if i < 0 || i >= int64(len(s)) {
		return nil, errIndexRange(i, len(s))
	}
	r := append([]byte(nil), s...)
	r[i] = byte(v)
	return r, nil
}

func getBit(s []byte, i int64) (int, error) {
	if i < 0 || i >= 8*int64(len(s)) {
		return 0, errIndexRange(i, 8*len(s))
	}
	return int(s[i/8] >> (i % 8) & 1), nil
}

func setBit(s []byte, i, v int64) ([]byte, error) {
	if i < 0 || i >= 8*int64(len(s)) {
		return nil, errIndexRange(i, 8*len(s))
	}
	if v != 0 && v != 1 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "new bit must be 0 or 1")
	}
	r := append([]byte(nil), s...)
	r[i/8] = r[i/8]&^(1<<(i%8)) | byte(v)<<(i%8)
	return r, nil
}

func bitCount(s []byte) (n int64) {
	for _, c := range s {
		n += int64(bits.OnesCount8(c))
	}
	return n
}

func errEncoding(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized encoding: \"%s\"", name)
}

func encode(s []byte, format string) (string, error) {
	switch strings.ToLower(format) {
	case "hex":
		if err := room.Take(4 * len(s)); err != nil {
			return "", err
		}
		return hex.EncodeToString(s), nil
	case "base64":
		// A line is 76 characters long, as in MIME.
		if err := room.Take(2 * base64.StdEncoding.EncodedLen(len(s))); err != nil {
			return "", err
		}
		e := base64.StdEncoding.EncodeToString(s)
		var b room.Builder
		for len(e) > 76 {
			b.WriteString(e[:76])
			b.WriteByte('\n')
			e = e[76:]
		}
		b.WriteString(e)
		return b.String(), nil
	case "escape":
		// Unlike bytea's output, only zero bytes, high ones and backslashes are escaped.
		var b room.Builder
		for _, c := range s {
			switch {
			case c == 0 || c >= 0x80:
				b.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
			case c == '\\':
				b.WriteString(`\\`)
			default:
				b.WriteByte(c)
			}
		}
		return b.String(), nil
	}
	return "", errEncoding(format)
}

func decode(s, format string) ([]byte, error) {
	switch strings.ToLower(format) {
	case "hex":
		return decodeHex(s)
	case "base64":
		return decodeBase64(s)
	case "escape":
		return decodeEscape(s)
	}
	return nil, errEncoding(format)
}

func decodeHex(s string) ([]byte, error) {
	var out []byte
	for i := 0; i < len(s); {
		if s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		hi, ok := hexVal(s[i])
		if !ok {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal digit: \"%c\"", r)
		}
		if i += n; i >= len(s) {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		r, n = utf8.DecodeRuneInString(s[i:])
		lo, ok := hexVal(s[i])
		if !ok {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal digit: \"%c\"", r)
		}
		i += n
		out = append(out, hi<<4|lo)
	}
	return out, nil
}

func decodeBase64(s string) ([]byte, error) {
	clean := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/', c == '=':
			clean = append(clean, c)
		default:
			r, _ := utf8.DecodeRuneInString(s[i:])
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid symbol \"%c\" found while decoding base64 sequence", r)
		}
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(clean)))
	n, err := base64.StdEncoding.Decode(out, clean)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return out[:n], nil
}

func decodeEscape(s string) ([]byte, error) {
	var out []byte
	for i := 0; i < len(s); i++ {
		octal := func(k int) bool { return i+k < len(s) && s[i+k] >= '0' && s[i+k] <= '7' }
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i++
		case octal(1) && s[i+1] <= '3' && octal(2) && octal(3):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		default:
			return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s", "bytea")
		}
	}
	return out, nil
}

// encodingOf reduces an encoding's name: UTF8, utf-8 and unicode are one.
func encodingOf(name string) string {
	n := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, name)
	switch n {
	case "utf8", "unicode":
		return "utf8"
	case "latin1", "iso88591":
		return "latin1"
	case "sqlascii":
		return "sql_ascii"
	}
	return ""
}

func convertFrom(s, enc string) (string, error) {
	switch encodingOf(enc) {
	case "utf8", "sql_ascii":
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n <= 1 || r == 0 {
				return "", sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x%02x", s[i])
			}
			i += n
		}
		return strings.Clone(s), nil
	case "latin1":
		var b room.Builder
		for i := 0; i < len(s); i++ {
			b.WriteRune(rune(s[i]))
		}
		return b.String(), nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid source encoding name \"%s\"", enc)
}

func convertTo(s, enc string) (string, error) {
	switch encodingOf(enc) {
	case "utf8", "sql_ascii":
		return s, nil
	case "latin1":
		b := make([]byte, 0, len(s))
		for _, r := range s {
			if r > 0xFF {
				return "", sqlerr.New(sqlerr.UntranslatableCharacter,
					"character with byte sequence %s in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"", byteSequence(string(r)))
			}
			b = append(b, byte(r))
		}
		return string(b), nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid destination encoding name \"%s\"", enc)
}

func byteSequence(s string) string {
	var parts []string
	for i := 0; i < len(s); i++ {
		parts = append(parts, "0x"+hex.EncodeToString([]byte{s[i]}))
	}
	return strings.Join(parts, " ")
}
