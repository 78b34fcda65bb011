// Package guard answers one question: what becomes of a panic in a goroutine of ours?
//
// The panics of a statement's own goroutine end at one place in the engine. A panic in a goroutine
// that it starts would end the process, and with it everybody's statements, whatever its cause: so
// each of them runs its work through Run, which makes it an error of the statement. A test
// (internal/deps) looks that none forgets.
package guard

import (
	"fmt"
	"runtime/debug"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Run gives f's error, or its panic as one: a *sqlerr.Error as it is, any other as XX000 with the
// stack as its cause.
func Run(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *sqlerr.Error: // vec.MustFit
			err = p
		case invariant.Violation:
			err = &sqlerr.Error{Code: sqlerr.InternalError, Message: p.Error(), Pos: -1,
				Cause: fmt.Errorf("%w\n%s", p, debug.Stack())}
		default:
			err = &sqlerr.Error{Code: sqlerr.InternalError, Message: fmt.Sprint("internal error: ", p), Pos: -1,
				Cause: fmt.Errorf("%v\n%s", p, debug.Stack())}
		}
	}()
	return f()
}
