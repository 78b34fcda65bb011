package guard

import (
	"errors"
	"testing"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// A panic becomes an error of the statement; an error stays what it is.
func TestRun(t *testing.T) {
	plain := errors.New("plain")
	var list []int
	for _, c := range []struct {
		f    func() error
		code sqlerr.Code
		is   error
	}{
		{func() error { return nil }, "", nil},
		{func() error { return plain }, sqlerr.CodeOf(plain), plain},
		{func() error { panic(sqlerr.New(sqlerr.NumericOutOfRange, "too much")) }, sqlerr.NumericOutOfRange, nil},
		{func() error { invariant.Fail("broken"); return nil }, sqlerr.InternalError, nil},
		{func() error { return errors.New(string(rune(list[3]))) }, sqlerr.InternalError, nil},
	} {
		err := Run(c.f)
		if sqlerr.CodeOf(err) != c.code || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%v, want %q", err, c.code)
		}
	}
}
