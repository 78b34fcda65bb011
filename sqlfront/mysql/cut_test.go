package mysql

import "testing"

// Cutting a text into statements ends, and the pieces are parts of it.
func FuzzCut(f *testing.F) {
	for _, s := range []string{"select 'a;b'; -- c\n show tables", "/*! set @a = `x``y` */; #z", "'\\'", `"`, "@@session.x := 1", "/*", "@`", "set a = (1,2), @b = 'x'"} {
		f.Add(s, false, false)
	}
	f.Fuzz(func(t *testing.T, text string, ansi, plain bool) {
		at := 0
		for _, p := range Cut(text, Mode{ANSIQuotes: ansi, NoBackslashEscapes: plain}) {
			if p.Offset < at || p.Offset+len(p.Text) > len(text) || text[p.Offset:p.Offset+len(p.Text)] != p.Text {
				t.Fatalf("%q: piece %q at %d", text, p.Text, p.Offset)
			}
			at = p.Offset + len(p.Text)
		}
	})
}
