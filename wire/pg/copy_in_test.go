package pg

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// copied is a source of COPY data that has come already.
func copied(spec engine.CopySpec, data string, kinds ...types.Kind) *copySource {
	s := &copySource{spec: &spec, buf: []byte(data), eof: true, o: &types.TextOptions{}}
	for i, k := range kinds {
		spec.Columns = append(spec.Columns, engine.ResultColumn{Name: fmt.Sprintf("c%d", i), Type: types.T(k)})
		s.cols = append(s.cols, vec.NewAppender(types.T(k)))
	}
	return s
}

var textFormat = engine.CopySpec{Format: "text", Delimiter: '\t', Null: `\N`}

// What a line's fields hold, as PostgreSQL's CopyReadAttributesText and CopyReadAttributesCSV cut them.
func TestCopyFields(t *testing.T) {
	csv := engine.CopySpec{Format: "csv", Delimiter: ',', Quote: '"', Escape: '"'}
	for _, c := range []struct {
		spec engine.CopySpec
		line string
		want string
	}{
		{textFormat, "a\tb\t", "a|b|"},
		{textFormat, "", ""},
		{textFormat, "\\N\t\\\\N\t\\n", "NULL|\\N|\n"},
		{textFormat, "a\\\tb\tc", "a\tb|c"},
		{textFormat, "\\x41\\102\\q\t\\x\t\\", "ABq|x|"},
		{textFormat, "x\\\\\t\\ty", "x\\|\ty"},
		{csv, `a,"b,""c""",,""`, `a|b,"c"|NULL|`},
		{csv, `"a"b,c`, "ab|c"},
	} {
		s := copied(c.spec, "")
		fields, err := s.split([]byte(c.line))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range fields {
			if f.null {
				got = append(got, "NULL")
			} else {
				got = append(got, string(f.text))
			}
		}
		if g := strings.Join(got, "|"); g != c.want {
			t.Errorf("%q: %q, want %q", c.line, g, c.want)
		}
	}
}

func BenchmarkCopyText(b *testing.B) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "%d\t%d.25\t2024-03-%02d\tcustomer number %d\t\\N\tt\n", i, i%1000, 1+i%28, i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		s := copied(textFormat, text.String(), types.Int8, types.Float8, types.Date, types.Text, types.Text, types.Bool)
		for {
			batch, err := s.Next(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			if batch == nil {
				break
			}
		}
	}
}
