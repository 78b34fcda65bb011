package mysqlfunc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerString() {
	const text, i8, bin, n = types.Text, types.Int8, types.Bytea, types.Numeric
	eval.Register(
		eval.Immutable("mysql:concat", eval.Sig(text), eval.TText, eval.Row(mysqlConcat)).AsVariadic(),
		eval.Immutable("mysql:concat_ws", eval.Sig(text, text), eval.TText, eval.Row(mysqlConcatWS)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:length", eval.Sig(bin), eval.TInt4, eval.Fn1(func(b []byte) int64 { return int64(len(b)) })).NeverFails(),
		eval.Immutable("mysql:char_length", eval.Sig(text), eval.TInt4, eval.Fn1(func(b []byte) int64 { return int64(eval.CountRunes(b)) })).NeverFails(),
		eval.Immutable("mysql:bit_length", eval.Sig(bin), eval.TInt8, eval.Fn1(func(b []byte) int64 { return int64(len(b)) * 8 })).NeverFails(),
		eval.Immutable("mysql:widen", eval.Sig(bin), eval.TText, eval.Fn1(widenBytes)).NeverFails(),
		eval.Immutable("mysql:narrow", eval.Sig(text), eval.TBytea, eval.Fn1(narrowText)).NeverFails(),
		eval.Immutable("mysql:upper", eval.Sig(text), eval.TText, eval.Fn1(strings.ToUpper)).NeverFails(),
		eval.Immutable("mysql:lower", eval.Sig(text), eval.TText, eval.Fn1(strings.ToLower)).NeverFails(),
		eval.Immutable("mysql:left", eval.Sig(text, i8), eval.TText, eval.Fn2(func(s string, n int64) string { return substringOf(s, 1, n) })).NeverFails(),
		eval.Immutable("mysql:right", eval.Sig(text, i8), eval.TText, eval.Fn2(rightOf)).NeverFails(),
		eval.Immutable("mysql:substring", eval.Sig(text, i8), eval.TText, eval.Fn2(func(s string, from int64) string { return substringOf(s, from, 1<<40) })).NeverFails(),
		eval.Immutable("mysql:substring", eval.Sig(text, i8, i8), eval.TText, eval.Fn3(substringOf)).NeverFails(),
		eval.Immutable("mysql:substring_index", eval.Sig(text, text, i8), eval.TText, eval.Fn3(substringIndex)).NeverFails(),
		eval.Immutable("mysql:trim", eval.Sig(text), eval.TText, eval.Fn1(func(s string) string { return strings.Trim(s, " ") })).NeverFails(),
		eval.Immutable("mysql:ltrim", eval.Sig(text), eval.TText, eval.Fn1(func(s string) string { return strings.TrimLeft(s, " ") })).NeverFails(),
		eval.Immutable("mysql:rtrim", eval.Sig(text), eval.TText, eval.Fn1(func(s string) string { return strings.TrimRight(s, " ") })).NeverFails(),
		eval.Immutable("mysql:trim", eval.Sig(text, text), eval.TText, eval.Fn2(func(s, x string) string { return trimRightAll(trimLeftAll(s, x), x) })).NeverFails(),
		eval.Immutable("mysql:ltrim", eval.Sig(text, text), eval.TText, eval.Fn2(trimLeftAll)).NeverFails(),
		eval.Immutable("mysql:rtrim", eval.Sig(text, text), eval.TText, eval.Fn2(trimRightAll)).NeverFails(),
		eval.Immutable("mysql:lpad", eval.Sig(text, i8, text), eval.TText, eval.Try3(func(s string, n int64, p string) (types.Datum, error) { return padTo(s, n, p, true) })),
		eval.Immutable("mysql:rpad", eval.Sig(text, i8, text), eval.TText, eval.Try3(func(s string, n int64, p string) (types.Datum, error) { return padTo(s, n, p, false) })),
		eval.Immutable("mysql:repeat", eval.Sig(text, i8), eval.TText, eval.Try2(repeatText)),
		eval.Immutable("mysql:space", eval.Sig(i8), eval.TText, eval.Try1(func(n int64) (string, error) { return repeatText(" ", n) })),
		eval.Immutable("mysql:reverse", eval.Sig(text), eval.TText, eval.Fn1(reverseText)).NeverFails(),
		eval.Immutable("mysql:replace", eval.Sig(text, text, text), eval.TText, eval.Try3(replaceText)),
		eval.Immutable("mysql:insert", eval.Sig(text, i8, i8, text), eval.TText, eval.Fn4(insertText)).NeverFails(),
		eval.Immutable("mysql:locate", eval.Sig(text, text), eval.TInt4, eval.Fn2(func(x, s string) int64 { return locate(x, s, 1) })).NeverFails(),
		eval.Immutable("mysql:locate", eval.Sig(text, text, i8), eval.TInt4, eval.Fn3(locate)).NeverFails(),
		eval.Immutable("mysql:locate_ci", eval.Sig(text, text), eval.TInt4, eval.Fn2(func(x, s string) int64 { return locateFolded(x, s, 1) })).NeverFails(),
		eval.Immutable("mysql:locate_ci", eval.Sig(text, text, i8), eval.TInt4, eval.Fn3(locateFolded)).NeverFails(),
		eval.Immutable("mysql:ascii", eval.Sig(bin), eval.TInt4, eval.Fn1(func(b []byte) int64 {
			if len(b) == 0 {
				return 0
			}
			return int64(b[0])
		})).NeverFails(),
		eval.Immutable("mysql:ord", eval.Sig(text), eval.TInt8, eval.Fn1(ordOf)).NeverFails(),
		eval.Immutable("mysql:char", eval.Sig(n), eval.TBytea, eval.Row(charOf)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:char_text", eval.Sig(bin), eval.TText, eval.Fn1(bytesText)).NeverFails(),
		eval.Immutable("mysql:hex", eval.Sig(bin), eval.TText, eval.Fn1(func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) })).NeverFails(),
		eval.Immutable("mysql:hex_number", eval.Sig(n), eval.TText, eval.Fn1(func(d types.Decimal) types.Datum { return conv(eval.UnsignedDecimal(mysqlBits(d)).String(), 10, 16) })).NeverFails(),
		eval.Immutable("mysql:unhex", eval.Sig(text), eval.TBytea, eval.Fn1(unhex)).NeverFails(),
		eval.Immutable("mysql:to_base64", eval.Sig(bin), eval.TText, eval.Fn1(toBase64)).NeverFails(),
		eval.Immutable("mysql:from_base64", eval.Sig(text), eval.TBytea, eval.Fn1(fromBase64)).NeverFails(),
		eval.Immutable("mysql:md5", eval.Sig(bin), eval.TText, eval.Fn1(func(b []byte) string { s := md5.Sum(b); return hex.EncodeToString(s[:]) })).NeverFails(),
		eval.Immutable("mysql:sha1", eval.Sig(bin), eval.TText, eval.Fn1(func(b []byte) string { s := sha1.Sum(b); return hex.EncodeToString(s[:]) })).NeverFails(),
		eval.Immutable("mysql:sha2", eval.Sig(bin, i8), eval.TText, eval.Fn2(sha2)).NeverFails(),
		eval.Immutable("mysql:elt", eval.Sig(i8, text), eval.TText, eval.Row(elt)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:find_in_set", eval.Sig(text, text), eval.TInt4, eval.Fn2(findInSet)).NeverFails(),
		eval.Immutable("mysql:make_set", eval.Sig(n, text), eval.TText, eval.Row(makeSet)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:export_set", eval.Sig(n, text, text, text, i8), eval.TText, eval.Row(exportSet)),
		eval.Immutable("mysql:soundex", eval.Sig(text), eval.TText, eval.Fn1(soundex)).NeverFails(),
		eval.Immutable("mysql:quote", eval.Sig(text), eval.TText, eval.Row(quoteText)).CalledOnNull(),
		eval.Immutable("mysql:to_text", eval.Sig(text), eval.TText, eval.Fn1(func(s string) string { return s })).NeverFails(),
		eval.Immutable("mysql:cut", eval.Sig(text, i8), eval.TText, eval.Ask2(cutText)).NeverFails(),
		eval.Immutable("mysql:concat_distinct", []types.Type{types.ArrayOf(eval.TBytea), eval.TText, eval.TInt4}, eval.TText, eval.Row(concatDistinct)),
		eval.Immutable("mysql:inet_aton", eval.Sig(text), eval.TInt8, eval.Fn1(inetAton)).NeverFails(),
		eval.Immutable("mysql:inet_ntoa", eval.Sig(i8), eval.TText, eval.Fn1(inetNtoa)).NeverFails(),
		eval.Immutable("mysql:is_uuid", eval.Sig(text), eval.TBool, eval.Fn1(func(s string) bool { _, err := types.ParseUUID(s); return err == nil })).NeverFails(),
	)
}

func mysqlConcat(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	n := 0
	for _, d := range a {
		n += len(d.Str())
	}
	if n > eval.MaxString() {
		return types.Null, eval.ErrTooLong()
	}
	b := room.Grow([]byte(nil), n)
	for _, d := range a {
		b = append(b, d.Str()...)
	}
	return types.NewStr(room.String(b)), nil
}

func mysqlConcatWS(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	var parts []string
	n := 0
	for _, d := range a[1:] {
		if !d.IsNull() {
			parts = append(parts, d.Str())
			n += len(d.Str()) + len(a[0].Str())
		}
	}
	if n > eval.MaxString() {
		return types.Null, eval.ErrTooLong()
	}
	if err := room.Take(n); err != nil {
		return types.Null, err
	}
	return types.NewStr(strings.Join(parts, a[0].Str())), nil
}

// charOffset is the byte where character n (from 0) of s begins; len(s) past the end.
func charOffset(s string, n int64) int {
	if n <= 0 {
		return 0
	}
	if n >= int64(len(s)) && !hasHighByte(s) {
		return len(s)
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}

func hasHighByte(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return true
		}
	}
	return false
}

// substringOf counts characters from 1, or from the end where from is negative.
func substringOf(s string, from, n int64) string {
	if n <= 0 || from == 0 {
		return ""
	}
	if from < 0 {
		c := int64(utf8.RuneCountInString(s))
		if -from > c {
			return ""
		}
		from = c + from + 1
	}
	s = s[charOffset(s, from-1):]
	return s[:charOffset(s, n)]
}

func rightOf(s string, n int64) string {
	if n <= 0 {
		return ""
	}
	c := int64(utf8.RuneCountInString(s))
	if n >= c {
		return s
	}
	return s[charOffset(s, c-n):]
}

func substringIndex(s, by string, n int64) string {
	if by == "" || n == 0 {
		return ""
	}
	if n > 0 {
		at := 0
		for ; n > 0; n-- {
			i := strings.Index(s[at:], by)
			if i < 0 {
				return s
			}
			at += i + len(by)
		}
		return s[:at-len(by)]
	}
	end := len(s)
	for ; n < 0; n++ {
		i := strings.LastIndex(s[:end], by)
		if i < 0 {
			return s
		}
		end = i
	}
	return s[end+len(by):]
}

func trimLeftAll(s, x string) string {
	for x != "" && strings.HasPrefix(s, x) {
		s = s[len(x):]
	}
	return s
}

func trimRightAll(s, x string) string {
	for x != "" && strings.HasSuffix(s, x) {
		s = s[:len(s)-len(x)]
	}
	return s
}

func padTo(s string, n int64, p string, left bool) (types.Datum, error) {
	c := int64(utf8.RuneCountInString(s))
	switch {
	case n < 0:
		return types.Null, nil
	case n <= c:
		return types.NewStr(s[:charOffset(s, n)]), nil
	case p == "":
		return types.NewStr(""), nil
	case n*4 > int64(eval.MaxString()):
		return types.Null, eval.ErrTooLong()
	}
	var b room.Builder
	if !left {
		b.WriteString(s)
	}
	for k := int64(utf8.RuneCountInString(p)); c+k <= n; c += k {
		b.WriteString(p)
	}
	b.WriteString(p[:charOffset(p, n-c)])
	if left {
		b.WriteString(s)
	}
	return types.NewStr(b.String()), nil
}

func repeatText(s string, n int64) (string, error) {
	if n <= 0 || s == "" {
		return "", nil
	}
	if n > int64(eval.MaxString()/len(s)) {
		return "", eval.ErrTooLong()
	}
	if err := room.Take(len(s) * int(n)); err != nil {
		return "", err
	}
	return strings.Repeat(s, int(n)), nil
}

func reverseText(s string) string {
	room.Must(4 * len(s))
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func replaceText(s, old, with string) (string, error) {
	if old == "" {
		return s, nil
	}
	size := len(s) + strings.Count(s, old)*(len(with)-len(old))
	if size > eval.MaxString() {
		return "", eval.ErrTooLong()
	}
	if err := room.Take(size); err != nil {
		return "", err
	}
	return strings.ReplaceAll(s, old, with), nil
}

func insertText(s string, at, n int64, with string) string {
	c := int64(utf8.RuneCountInString(s))
	if at < 1 || at > c {
		return s
	}
	from := charOffset(s, at-1)
	if n < 0 || n > c-at+1 {
		return s[:from] + with
	}
	return s[:from] + with + s[from+charOffset(s[from:], n):]
}

func locate(x, s string, from int64) int64 {
	c := int64(utf8.RuneCountInString(s))
	if from < 1 || from > c+1 {
		return 0
	}
	at := charOffset(s, from-1)
	i := strings.Index(s[at:], x)
	if i < 0 {
		return 0
	}
	return from + int64(utf8.RuneCountInString(s[at:at+i]))
}

// locateFolded compares character by character without regard to case and accents.
func locateFolded(x, s string, from int64) int64 {
	xs, ss := foldAll(x), foldAll(s)
	if from < 1 || from > int64(len(ss))+1 {
		return 0
	}
	for i := int(from - 1); i+len(xs) <= len(ss); i++ {
		same := true
		for j := range xs {
			if xs[j] != ss[i+j] {
				same = false
				break
			}
		}
		if same {
			return int64(i) + 1
		}
	}
	return 0
}

func foldAll(s string) []rune {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		out = append(out, foldRune(r))
	}
	return out
}

func ordOf(s string) int64 {
	_, w := utf8.DecodeRuneInString(s)
	if s == "" {
		return 0
	}
	var n int64
	for i := 0; i < w; i++ {
		n = n<<8 | int64(s[i])
	}
	return n
}

func charOf(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	var b []byte
	for _, d := range a {
		if d.IsNull() {
			continue
		}
		u := uint32(mysqlBits(types.DecimalOf(d, eval.TNumeric)))
		started := false
		for shift := 24; shift >= 0; shift -= 8 {
			if c := byte(u >> shift); c != 0 || started || shift == 0 {
				b, started = append(b, c), true
			}
		}
	}
	return types.NewStr(string(b)), nil
}

func unhex(s string) types.Datum {
	if len(s)%2 == 1 {
		s = "0" + s
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return types.Null
	}
	return types.NewStr(string(b))
}

func toBase64(b []byte) string {
	s := base64.StdEncoding.EncodeToString(b)
	var out room.Builder
	for len(s) > 76 {
		out.WriteString(s[:76] + "\n")
		s = s[76:]
	}
	return out.String() + s
}

func fromBase64(s string) types.Datum {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return types.Null
	}
	return types.NewStr(string(b))
}

func sha2(b []byte, n int64) types.Datum {
	var sum []byte
	switch n {
	case 0, 256:
		s := sha256.Sum256(b)
		sum = s[:]
	case 224:
		s := sha256.Sum224(b)
		sum = s[:]
	case 384:
		s := sha512.Sum384(b)
		sum = s[:]
	case 512:
		s := sha512.Sum512(b)
		sum = s[:]
	default:
		return types.Null
	}
	return types.NewStr(hex.EncodeToString(sum))
}

func elt(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if a[0].IsNull() || a[0].Int() < 1 || a[0].Int() >= int64(len(a)) {
		return types.Null, nil
	}
	return a[a[0].Int()], nil
}

func findInSet(x, set string) int64 {
	if set == "" || strings.Contains(x, ",") {
		return 0
	}
	x = string(foldAll(x))
	for i, s := range strings.Split(set, ",") {
		if string(foldAll(s)) == x {
			return int64(i + 1)
		}
	}
	return 0
}

func makeSet(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	u := mysqlBits(types.DecimalOf(a[0], eval.TNumeric))
	var out []string
	for i, d := range a[1:] {
		if i < 64 && u>>i&1 == 1 && !d.IsNull() {
			out = append(out, d.Str())
		}
	}
	return types.NewStr(strings.Join(out, ",")), nil
}

func exportSet(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	u := mysqlBits(types.DecimalOf(a[0], eval.TNumeric))
	n := a[4].Int()
	if n < 0 || n > 64 {
		n = 64
	}
	var out []string
	for i := int64(0); i < n; i++ {
		out = append(out, a[2-int(u>>i&1)].Str())
	}
	return types.NewStr(strings.Join(out, a[3].Str())), nil
}

// soundex gives a letter and at least three digits, as many as the text makes.
func soundex(s string) string {
	const codes = "01230120022455012623010202"
	var out []byte
	var last byte
	for _, r := range strings.ToUpper(s) {
		if r < 'A' || r > 'Z' {
			continue
		}
		c := codes[r-'A']
		switch {
		case len(out) == 0:
			out = append(out, byte(r))
			last = c
		case c == '0':
			// Vowels, H and W are passed over; a letter behind one that sounds alike is not told again.
		case c != last:
			out = append(out, c)
			last = c
		}
	}
	if len(out) == 0 {
		return ""
	}
	for len(out) < 4 {
		out = append(out, '0')
	}
	return string(out)
}

func quoteText(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if a[0].IsNull() {
		return types.NewStr("NULL"), nil
	}
	var b room.Builder
	b.WriteByte('\'')
	for _, r := range a[0].Str() {
		switch r {
		case '\\', '\'':
			b.WriteByte('\\')
			b.WriteRune(r)
		case 0:
			b.WriteString(`\0`)
		case 26:
			b.WriteString(`\Z`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return types.NewStr(b.String()), nil
}

// cutText cuts a text to n bytes, at a character's end: group_concat_max_len.
func cutText(c *eval.Ctx, s string, n int64) (string, error) {
	if int64(len(s)) <= n {
		return s, nil
	}
	if c != nil && c.Warn != nil {
		c.Warn(sqlerr.StringCut, "A value was cut by GROUP_CONCAT(): group_concat_max_len is %d", n)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)], nil
}

// concatDistinct joins the texts behind an array of keys, one for each key. order: 0 as they
// come, 1 by key, -1 by key from the last.
func concatDistinct(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	items := a[0].List()
	var keys, texts [][]byte
	seen := map[string]bool{}
	for _, d := range items {
		if d.IsNull() {
			continue
		}
		all := []byte(d.Str())
		t, err := unkeyed(all)
		if err != nil {
			return types.Null, err
		}
		k := all[:len(all)-len(t)]
		if !seen[string(k)] {
			seen[string(k)] = true
			keys, texts = append(keys, k), append(texts, t)
		}
	}
	if len(texts) == 0 {
		return types.Null, nil
	}
	if order := a[2].Int(); order != 0 {
		sortBy(keys, texts, func(i, j int) bool { return int64(bytes.Compare(keys[i], keys[j]))*order < 0 })
	}
	out := bytes.Join(texts, []byte(a[1].Str()))
	if len(out) > eval.MaxString() {
		return types.Null, eval.ErrTooLong()
	}
	return types.NewStr(string(out)), nil
}

func inetAton(s string) types.Datum {
	parts := strings.Split(s, ".")
	if len(parts) > 4 || s == "" {
		return types.Null
	}
	var n int64
	for i, p := range parts {
		v := int64(0)
		if p == "" || len(p) > 3 {
			return types.Null
		}
		for _, c := range p {
			if c < '0' || c > '9' {
				return types.Null
			}
			v = v*10 + int64(c-'0')
		}
		if v > 255 {
			return types.Null
		}
		if i == len(parts)-1 {
			for k := len(parts); k < 4; k++ {
				n <<= 8
			}
		}
		n = n<<8 | v
	}
	return types.NewInt(n)
}

func inetNtoa(n int64) types.Datum {
	if n < 0 || n > 0xffffffff {
		return types.Null
	}
	d := func(s uint) string { return types.DecimalFromInt64(n >> s & 255).String() }
	return types.NewStr(d(24) + "." + d(16) + "." + d(8) + "." + d(0))
}

// widenBytes makes each byte the character of its number, so that functions on characters work on
// bytes; narrowText is its inverse.
func widenBytes(b []byte) string {
	out := room.Grow([]byte(nil), 2*len(b))
	for _, c := range b {
		out = utf8.AppendRune(out, rune(c))
	}
	return room.String(out)
}

func narrowText(s string) []byte {
	out := room.Grow([]byte(nil), len(s))
	for _, r := range s {
		out = append(out, byte(r))
	}
	return out
}
