package write

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// TestFailedWritesLeaveNothing has statements fail late: the table's metadata pointer stays, the
// files that were written go, and the message says why.
func TestFailedWritesLeaveNothing(t *testing.T) {
	dir := fastDir(t)
	eng := openLake(t, dir)
	defer eng.Close()
	s := openSession(t, eng)
	defer s.Close()
	other := openSession(t, eng)
	defer other.Close()
	ctx := context.Background()
	must := mustRows(t, s)
	must("CREATE SCHEMA s")
	must("SET search_path = s")
	must("SET lhsql.retry_conflicts = 0")
	for _, mode := range []string{"copy-on-write", "merge-on-read"} {
		name := "t_" + mode[:4]
		must("CREATE TABLE " + name + " (id int NOT NULL, v text) PARTITIONED BY (bucket(4, id)) TBLPROPERTIES ('write.target-file-size-bytes' = '20000', 'write.delete.mode' = '" + mode + "', 'write.update.mode' = '" + mode + "', 'write.merge.mode' = '" + mode + "')")
		must("INSERT INTO " + name + " SELECT g, 'v' || g FROM generate_series(1, 1000) g")
		before := files(t, dir)
		sum := strings.Join(must("SELECT count(*), sum(id), min(v) FROM "+name), "")
		for _, c := range []struct {
			q    string
			code sqlerr.Code
			ctx  func() (context.Context, context.CancelFunc)
		}{
			{q: "INSERT INTO " + name + " SELECT CASE WHEN g = 1000001 THEN 'x' ELSE g::text END::int, 'v' FROM generate_series(1, 1000002) g", code: sqlerr.InvalidTextRepresentation},
			{q: "INSERT INTO " + name + " SELECT CASE WHEN g < 150000 THEN g END, 'v' FROM generate_series(1, 150001) g", code: sqlerr.NotNullViolation},
			{q: "UPDATE " + name + " SET id = 1 / (id - 999)", code: sqlerr.DivisionByZero},
			{q: "MERGE INTO " + name + " t USING (SELECT g % 999 AS id FROM generate_series(1, 2000) g) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = 'm'", code: sqlerr.CardinalityViolation},
			{q: "CREATE TABLE other AS SELECT 1 / (g - 90000) AS x FROM generate_series(1, 90000) g", code: sqlerr.DivisionByZero},
			// A client that goes away or cancels, at a step of the write or of the commit.
			{q: "INSERT INTO " + name + " SELECT g, repeat('v', 50) || g FROM generate_series(1, 100000000) g", code: sqlerr.QueryCanceled, ctx: func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 300*time.Millisecond) }},
			{q: "UPDATE " + name + " SET v = 'x'", code: sqlerr.QueryCanceled, ctx: func() (context.Context, context.CancelFunc) {
				c, cancel := context.WithCancel(ctx)
				return lake.WithYield(c, func(step string) error {
					if step == "list" {
						cancel()
					}
					return c.Err()
				}), cancel
			}},
			// An administrator ends the session in the middle of a MERGE.
			{q: "MERGE INTO " + name + " t USING (SELECT g AS id FROM generate_series(500, 1500) g) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (u.id, 'new')", code: sqlerr.AdminShutdown, ctx: func() (context.Context, context.CancelFunc) {
				return lake.WithYield(ctx, func(step string) error {
					if step == "manifests" {
						if out, err := rows(ctx, other, fmt.Sprintf("SELECT pg_terminate_backend(%d)", s.PID())); err != nil || out[0] != "t" {
							t.Errorf("%v %v", out, err)
						}
					}
					return nil
				}), func() {}
			}},
			// Another writer's commit.
			{q: "UPDATE " + name + " SET v = 'x' WHERE id < 10", code: sqlerr.SerializationFailure, ctx: func() (context.Context, context.CancelFunc) {
				return lake.WithYield(ctx, func(step string) error {
					if step == "load" {
						mine := files(t, dir) // with what this statement has written
						if _, err := rows(ctx, other, "UPDATE s."+name+" SET v = v WHERE id = 5"); err != nil {
							t.Error(err)
						}
						list := append(strings.Split(before, "\n"), strings.Split(news(mine, files(t, dir)), "\n")...)
						sort.Strings(list)
						before = strings.Join(list, "\n")
					}
					return nil
				}), func() {}
			}},
			// The disk is full: whatever the commit wants to write fails.
			{q: "DELETE FROM " + name + " WHERE id % 2 = 0", code: "", ctx: func() (context.Context, context.CancelFunc) {
				return lake.WithYield(ctx, func(step string) error {
					if step == "metadata" {
						return errors.New("no space left on device")
					}
					return nil
				}), func() {}
			}},
		} {
			use, cancel := ctx, context.CancelFunc(func() {})
			if c.ctx != nil {
				use, cancel = c.ctx()
			}
			_, err := rows(use, s, c.q)
			cancel()
			e, _ := sqlerr.As(err)
			switch {
			case err == nil:
				t.Errorf("%s: no error", c.q)
			case c.code != "" && (e == nil || e.Code != c.code):
				t.Errorf("%s: %s, want %s", c.q, errText(err), c.code)
			}
			if got := strings.Join(must("SELECT count(*), sum(id), min(v) FROM "+name), ""); got != sum {
				t.Errorf("%s: the table has changed from %s to %s", c.q, sum, got)
			}
			if got := files(t, dir); got != before {
				t.Errorf("%s left files behind, or took some away:\n%s\n-- gone:\n%s", c.q, news(before, got), news(got, before))
				before = got
			}
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "tmp")); len(left) > 0 {
		t.Errorf("%d temporary files stayed", len(left))
	}
}

// files lists the warehouse.
func files(t *testing.T, dir string) string {
	var list []string
	err := filepath.WalkDir(filepath.Join(dir, "warehouse"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(list)
	return strings.Join(list, "\n")
}

func news(before, after string) string {
	var out []string
	for _, l := range strings.Split(after, "\n") {
		if !strings.Contains(before, l) {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
