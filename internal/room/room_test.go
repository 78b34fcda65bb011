package room

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// refuse lets Ask allow most bytes at once and no more.
func refuse(t *testing.T, most int64) *[]int64 {
	t.Helper()
	var asked []int64
	Ask(func(n int64) error {
		asked = append(asked, n)
		if n > most {
			return Error()
		}
		return nil
	})
	t.Cleanup(func() { Ask(nil) })
	return &asked
}

// outOfMemory tells whether f panics with 53200.
func outOfMemory(f func()) (yes bool) {
	defer func() {
		if err, ok := recover().(*sqlerr.Error); ok {
			yes = err.Code == sqlerr.OutOfMemory
		}
	}()
	f()
	return false
}

// What is small is never asked for, what is large always before it is made.
func TestAsksBeforeItAllocates(t *testing.T) {
	asked := refuse(t, 4*Grain)
	if err := Take(Grain - 1); err != nil || len(*asked) != 0 {
		t.Errorf("a small one: %v, asked %v", err, *asked)
	}
	if err := Take(4 * Grain); err != nil {
		t.Error(err)
	}
	if sqlerr.CodeOf(Take(4*Grain+1)) != sqlerr.OutOfMemory {
		t.Error("too large a one was allowed")
	}
	var b Builder
	word := strings.Repeat("x", 1000)
	for range 1000 {
		b.WriteString(word)
		b.WriteByte(';')
		b.WriteRune('é')
	}
	if want := strings.Repeat(word+";é", 1000); b.String() != want {
		t.Error("the builder lost text")
	}
	if !outOfMemory(func() {
		for range 20000 {
			b.WriteString(word)
		}
	}) {
		t.Error("the builder grew beyond what was allowed")
	}
	list := []int64{}
	if !outOfMemory(func() {
		for i := range int64(10 * Grain) {
			list = Append(list, i)
		}
	}) {
		t.Error("a list grew beyond what was allowed")
	}
	for i, v := range list {
		if v != int64(i) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	if cap(list)*8 > 4*Grain {
		t.Errorf("a list of %d bytes was made", cap(list)*8)
	}
}

// Growing keeps elements, gives the room that was asked for, and does not write behind the slice.
func TestGrow(t *testing.T) {
	whole := []byte("abcdef")
	s := Grow(whole[:3], 100)
	if string(s) != "abc" || cap(s) < 103 {
		t.Errorf("%q with room for %d", s, cap(s))
	}
	if s = append(s, 'X'); string(whole) != "abcdef" || s[3] != 'X' {
		t.Errorf("the original is %q", whole)
	}
	if got := Text([]byte(nil), "text"); string(got) != "text" {
		t.Errorf("%q", got)
	}
}

func TestCheck(t *testing.T) {
	defer Short(false)
	if err := Check(); err != nil {
		t.Error(err)
	}
	Short(true)
	if sqlerr.CodeOf(Check()) != sqlerr.OutOfMemory {
		t.Error("a process that is short of memory goes on")
	}
}
