package pgfunc

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Unicode's normal forms: PostgreSQL's chapter 9.4.
func registerNormalize() {
	form := func(name string) (norm.Form, error) {
		switch strings.ToUpper(name) {
		case "NFC":
			return norm.NFC, nil
		case "NFD":
			return norm.NFD, nil
		case "NFKC":
			return norm.NFKC, nil
		case "NFKD":
			return norm.NFKD, nil
		}
		return norm.NFC, sqlerr.New(sqlerr.InvalidParameterValue, "invalid normalization form: %s", name)
	}
	normalize := func(s, name string) (string, error) {
		f, err := form(name)
		if err != nil {
			return "", err
		}
		return f.String(s), nil
	}
	normal := func(s, name string) (bool, error) {
		f, err := form(name)
		return err == nil && f.IsNormalString(s), err
	}
	eval.Register(
		eval.Immutable("normalize", eval.Sig(types.Text), eval.TText, eval.Fn1(norm.NFC.String)).NeverFails(),
		eval.Immutable("normalize", eval.Sig(types.Text, types.Text), eval.TText, eval.Try2(normalize)),
		eval.Immutable("is_normalized", eval.Sig(types.Text), eval.TBool, eval.Fn1(norm.NFC.IsNormalString)).NeverFails(),
		eval.Immutable("is_normalized", eval.Sig(types.Text, types.Text), eval.TBool, eval.Try2(normal)),
	)
}
