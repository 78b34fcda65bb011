package pgfunc

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerIdentifier() {
	parse := eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		return parseIdent(a[0].Str(), len(a) < 2 || a[1].Bool())
	})
	eval.Register(
		eval.Immutable("parse_ident", eval.Sig(types.Text), types.ArrayOf(eval.TText), parse),
		eval.Immutable("parse_ident", eval.Sig(types.Text, types.Bool), types.ArrayOf(eval.TText), parse),
	)
}

// parseIdent is parse_ident: the parts of a qualified name, unquoted ones in lower case. Without
// strict, what follows the name is ignored.
func parseIdent(text string, strict bool) (types.Datum, error) {
	bad := func(detail string, args ...any) (types.Datum, error) {
		err := sqlerr.New(sqlerr.InvalidParameterValue, "string is not a valid identifier: %q", text)
		if detail != "" {
			err = err.WithDetail(detail, args...)
		}
		return types.Null, err
	}
	space := func(s string) string { return strings.TrimLeft(s, " \t\n\r\f\v") }
	var parts []types.Datum
	for s, afterDot := space(text), false; ; afterDot = true {
		var part string
		switch {
		case strings.HasPrefix(s, `"`):
			for s = s[1:]; ; {
				i := strings.IndexByte(s, '"')
				if i < 0 {
					return bad("String has unclosed double quotes.")
				}
				part, s = part+s[:i], s[i+1:]
				if !strings.HasPrefix(s, `"`) {
					break
				}
				part, s = part+`"`, s[1:]
			}
			if part == "" {
				return bad("Quoted identifier must not be empty.")
			}
		default:
			n := 0
			for n < len(s) && identByte(s[n], n > 0) {
				n++
			}
			if n == 0 {
				switch {
				case strings.HasPrefix(s, "."):
					return bad(`No valid identifier before ".".`)
				case afterDot:
					return bad(`No valid identifier after ".".`)
				}
				return bad("")
			}
			part, s = strings.ToLower(s[:n]), s[n:]
		}
		parts = append(parts, types.NewStr(part))
		s = space(s)
		if !strings.HasPrefix(s, ".") {
			if s != "" && strict {
				return bad("")
			}
			return types.NewList(parts), nil
		}
		s = space(s[1:])
	}
}

// identByte tells whether c may stand in an unquoted identifier, after the first byte or as it.
func identByte(c byte, later bool) bool {
	switch {
	case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= 0x80:
		return true
	}
	return later && (c >= '0' && c <= '9' || c == '$')
}
