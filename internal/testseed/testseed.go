// Package testseed gives random tests their seeds: the same in every run, so that a test fails for a
// change and not for its luck, and others where somebody asks for news.
//
// LHSQL_SEED=7 is that seed; LHSQL_SEED=clock another one each time, as scripts/nightly.sh has it.
package testseed

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Of is the seed of a test, which it logs.
func Of(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	switch v := os.Getenv("LHSQL_SEED"); v {
	case "":
	case "clock":
		seed = uint64(time.Now().UnixNano())
	default:
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("LHSQL_SEED is a number or clock, not %q", v)
		}
		seed = n
	}
	t.Logf("LHSQL_SEED=%d", seed)
	return seed
}
