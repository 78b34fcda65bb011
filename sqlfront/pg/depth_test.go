package pg

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// CheckDepth refuses what Parse refuses for its depth, at the same place, and nothing else.
func TestCheckDepth(t *testing.T) {
	for _, text := range []string{
		"select 1; select (2); ;", "select (((", "no grammar ) at all",
		"select 1; select " + strings.Repeat("(", 3000) + "1" + strings.Repeat(")", 3000),
		"select " + strings.Repeat("case when a then ", 3000) + "1" + strings.Repeat(" end", 3000),
		strings.Repeat("select 1+1;", 3000), "select '" + strings.Repeat("(", 3000) + "'",
	} {
		_, parsed := Parse(text)
		checked := CheckDepth(text)
		if deep := sqlerr.CodeOf(parsed) == sqlerr.StatementTooComplex; deep != (checked != nil) ||
			deep && checked.Error() != parsed.Error() {
			t.Errorf("%.40s: Parse %v, CheckDepth %v", text, parsed, checked)
		}
	}
}
