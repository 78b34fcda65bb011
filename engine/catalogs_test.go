package engine

import (
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// A server that nobody reaches is away, whatever digits its address has; one that answers that it was
// asked for something wrong is not.
func TestAway(t *testing.T) {
	props := map[string]string{"uri": "http://127.0.0.1:8404/"}
	for text, want := range map[string]bool{
		`Get "http://127.0.0.1:8404/v1/config": dial tcp 127.0.0.1:8404: connect: connection refused`: true,
		`failed to connect: dial error (dial tcp [::1]:40310: i/o timeout)`:                           true,
		`404 Not Found`: false,
		`FATAL: password authentication failed (SQLSTATE 28P01)`: false,
	} {
		if got := away(sqlerr.New(sqlerr.ConnectionException, "open catalog: %s", text), props); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
