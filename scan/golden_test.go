package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// goldenTasks plans a table's current snapshot without pruning.
func goldenTasks(t *testing.T, tb *lake.Table) *plan.Scan {
	ctx := context.Background()
	n := scanOf(tb)
	n.Snapshot = tb.CurrentSnapshot()
	ms, err := tb.Manifests(ctx, n.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	var deletes []*lake.DataFile
	for _, m := range ms {
		es, err := tb.Entries(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			switch {
			case e.Status == lake.Deleted:
			case e.File.Content == lake.Data:
				n.Tasks = append(n.Tasks, plan.FileTask{File: e.File})
			default:
				deletes = append(deletes, e.File)
			}
		}
	}
	sort.Slice(n.Tasks, func(i, j int) bool { return n.Tasks[i].File.Path < n.Tasks[j].File.Path })
	for i := range n.Tasks {
		f := n.Tasks[i].File
		for _, d := range deletes {
			spec := tb.Spec(d.SpecID)
			global := d.Content == lake.EqualityDeletes && len(spec.Fields) == 0
			same := d.SpecID == f.SpecID && fmt.Sprint(d.Partition) == fmt.Sprint(f.Partition)
			old := f.DataSeq < d.DataSeq || d.Content != lake.EqualityDeletes && f.DataSeq == d.DataSeq
			if old && (global || same) {
				n.Tasks[i].Deletes = append(n.Tasks[i].Deletes, d)
			}
		}
	}
	return n
}

// goldenTables are folders with metadata below root.
func goldenTables(root string) (dirs []string) {
	filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "metadata" {
			dirs = append(dirs, filepath.Dir(p))
		}
		return nil
	})
	return dirs
}

func rowText(n *plan.Scan, r []types.Datum) string {
	var s []string
	for c, d := range r {
		if d.IsNull() {
			s = append(s, "NULL")
		} else {
			s = append(s, types.Format(d, n.Cols[c].Type, nil))
		}
	}
	return strings.Join(s, "|")
}

// goldenWant is what the golden tables hold: the number of rows and some of them. The rows were
// checked against the files as pyarrow reads them, deletes applied by hand.
var goldenWant = map[string]struct {
	rows int
	some []string
}{
	"equality_deletes/warehouse/mydb/mytable":             {2, []string{"4|d|2025-01-04", "5|e|2025-01-05"}},
	"equality_deletes/warehouse/mydb/mytable_partitioned": {3, []string{"1|a|2025-01-01", "4|d|2025-01-04", "5|e|2025-01-05"}},
	"hive_partitioned_table":                              {6, []string{"2024-01-01|12345|click", "2024-01-04|97531|purchase"}},
	"iceberg/lineitem_iceberg":                            {51793, nil},
	"iceberg/lineitem_iceberg_gz":                         {111968, nil},
	"name_mapping/warehouse_1/mydb/t1":                    {10000, []string{"0|NULL"}},
	"partition_bigint":                                    {2, []string{"-9223372036854775808|67890|purchase"}},
	"partition_binary":                                    {2, []string{`\x010203|12345|click`}},
	"partition_bool":                                      {2, []string{"f|67890|purchase"}},
	"partition_decimal_bigint":                            {10, []string{"-9876.54321098765|222333|view", "0.00000000001|444555|scroll"}},
	"partition_double":                                    {2, []string{"3.1415927|12345|click"}},
	"partition_float":                                     {2, []string{"1.23|12345|click"}},
	"null_stats/default/test_nulls":                       {9, []string{"4|d|2024-03-05 00:53:20+00|NULL"}},
	"column_mapping/warehouse/default.db/my_table":        {3, nil},
	"uuid": {10, []string{"1571effb-facd-42a3-90e9-0af522e9b6c2"}},
}

// TestGolden reads tables that other engines wrote.
func TestGolden(t *testing.T) {
	root := os.Getenv("LHSQL_GOLDEN")
	if root == "" {
		t.Skip("LHSQL_GOLDEN names no folder of tables")
	}
	for _, dir := range goldenTables(root) {
		rel, _ := filepath.Rel(root, dir)
		t.Run(rel, func(t *testing.T) {
			tb, err := lake.OpenPath(context.Background(), dir)
			if err != nil {
				t.Fatal(err)
			}
			n := goldenTasks(t, tb)
			rows, _, err := collect(t, n, Env{})
			if err != nil {
				t.Fatal(err)
			}
			have := map[string]bool{}
			for _, r := range rows {
				have[rowText(n, r)] = true
			}
			want, ok := goldenWant[filepath.ToSlash(rel)]
			if ok && len(rows) != want.rows {
				t.Errorf("%d rows, want %d", len(rows), want.rows)
			}
			for _, s := range want.some {
				if !have[s] {
					t.Errorf("no row %s", s)
				}
			}
		})
	}
}
