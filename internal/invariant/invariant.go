// Package invariant states what the program believes about itself.
//
// A broken belief panics with a Violation, which the engine recovers at one place and reports
// as XX000 together with the plan. User data never violates an invariant: bad data is a
// sqlerr. Costly checks hide behind Enabled, which the build tag "invariants" turns on; tests
// run with it.
package invariant

import "fmt"

// Violation is the panic value of a broken invariant.
type Violation struct{ Message string }

func (v Violation) Error() string { return "internal error: " + v.Message }

// Check panics with a Violation when ok is false.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic(Violation{fmt.Sprintf(format, args...)})
	}
}

// Fail panics with a Violation; for switches that must be exhaustive.
func Fail(format string, args ...any) {
	panic(Violation{fmt.Sprintf(format, args...)})
}
