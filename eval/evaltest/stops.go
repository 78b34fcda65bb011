// Package evaltest is what tests of eval's rooms share.
package evaltest

import (
	"context"
	"testing"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Stops runs f under a context that is cancelled after its first look, and tells whether f ended
// with the statement's end rather than a value.
func Stops(t *testing.T, what string, f func(c *eval.Ctx) error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(sqlerr.New(sqlerr.QueryCanceled, "cancelled by the test"))
	c := eval.Ctx{Now: time.Unix(1700000000, 0), StmtStart: time.Unix(1700000000, 0), DateStyle: "ISO, MDY", IntervalStyle: "postgres"}
	c.Context = ctx
	began := time.Now()
	var err error
	func() {
		defer func() {
			if e, ok := recover().(*sqlerr.Error); ok {
				err = e
			}
		}()
		err = f(&c)
	}()
	if sqlerr.CodeOf(err) != sqlerr.QueryCanceled {
		t.Errorf("%s: %v after %v", what, err, time.Since(began))
	}
}
