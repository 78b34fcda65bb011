package exec

import (
	"testing"
)

// sum(x) and avg(x) share what they collect only where they see the same rows.
func TestAggregatesShareState(t *testing.T) {
	sum := aggCall{collects: "exact sum", filter: -1, args: []int{3}}
	for name, c := range map[string]struct {
		call aggCall
		want int
	}{
		"the same":          {aggCall{collects: "exact sum", filter: -1, args: []int{3}}, 1},
		"another argument":  {aggCall{collects: "exact sum", filter: -1, args: []int{2}}, 0},
		"a filter":          {aggCall{collects: "exact sum", filter: 4, args: []int{3}}, 0},
		"distinct":          {aggCall{collects: "exact sum", filter: -1, args: []int{3}, distinct: true}, 0},
		"something else":    {aggCall{collects: "", filter: -1, args: []int{3}}, 0},
		"a base is no view": {aggCall{collects: "other", filter: -1, args: []int{3}}, 0},
	} {
		c.call.shareState([]aggCall{sum})
		if c.call.base != c.want {
			t.Errorf("%s: base %d, want %d", name, c.call.base, c.want)
		}
	}
	distinct := sum
	distinct.distinct = true
	sum.shareState([]aggCall{distinct})
	if sum.base != 0 {
		t.Error("sum(x) took the state of sum(DISTINCT x)")
	}
}
