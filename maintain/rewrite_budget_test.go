package maintain

import (
	"fmt"
	"testing"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/types"
)

// A plan that would take more memory than it may leaves whole partitions out, and says how many files; one
// partition that is too large is cut.
func TestPlanMemory(t *testing.T) {
	task := func(i, partitions int) plan.FileTask {
		return plan.FileTask{File: &lake.DataFile{Path: fmt.Sprintf("f%06d", i), Partition: []types.Datum{types.NewInt(int64(i * 7 % partitions))}}}
	}
	one := task(0, 1)
	size := taskMemory(&one)
	for _, partitions := range []int{1, 3, 40, 1000} {
		s := &state{budget: 100 * size}
		total := map[string]int{}
		for i := range 1000 {
			x := task(i, partitions)
			total[planner.PartitionKey(x.File)]++
			if err := s.keep(x); err != nil {
				t.Fatal(err)
			}
			if s.held > s.budget+size {
				t.Fatalf("%d bytes are held of %d", s.held, s.budget)
			}
		}
		kept := map[string]int{}
		for i := range s.tasks {
			kept[planner.PartitionKey(s.tasks[i].File)]++
		}
		if len(s.tasks)+s.left != 1000 || len(s.tasks) < 25 {
			t.Errorf("%d partitions: %d files kept, %d left", partitions, len(s.tasks), s.left)
		}
		for k, n := range kept {
			if n != total[k] && len(kept) > 1 {
				t.Errorf("%d partitions: %d files of one that has %d", partitions, n, total[k])
			}
		}
	}
}
