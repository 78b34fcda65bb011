package pgfunc

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/evaltest"
	"github.com/lhsql/lhsql/types"
)

// Functions that take long on one value look whether anybody waits for it.
func TestLongFunctionsStop(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	evaltest.Stops(t, "path", func(c *eval.Ctx) error {
		_, _, err := runPath(c, []types.Datum{types.NewStr("[" + strings.Repeat("1,", 500) + "1]"), types.NewStr("$ ? (@[*] == $[*] + 7)"), types.Null, types.Null})
		return err
	})
	evaltest.Stops(t, "replace", func(c *eval.Ctx) error { _, err := replace(c, long, "a", "bc"); return err })
	evaltest.Stops(t, "upper", func(c *eval.Ctx) error { _, err := inPieces(strings.ToUpper)(c, long+"a"); return err })
	evaltest.Stops(t, "reverse", func(c *eval.Ctx) error { _, err := reverse(c, long); return err })
	evaltest.Stops(t, "md5", func(c *eval.Ctx) error { _, err := md5Hex(c, []byte(long)); return err })
	evaltest.Stops(t, "string_to_array", func(c *eval.Ctx) error {
		_, err := stringToArray(c, []types.Datum{types.NewStr(long), types.NewStr("a")})
		return err
	})
}
