package write

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maintain runs a maintenance procedure: no row of any branch, tag or kept snapshot may change.
func (h *state) maintain(r *rand.Rand) error {
	ctx := context.Background()
	snaps, err := h.snapshots(ctx)
	if err != nil || len(snaps) == 0 {
		return err
	}
	switch r.IntN(8) {
	case 6, 7:
		return h.erase(ctx, r)
	case 4:
		t := []string{"s.t", "s.t", "s.t.branch_b"}[r.IntN(3)]
		if _, open := h.heads["b"]; !open {
			t = "s.t"
		}
		options := []string{"", ", options => map('rewrite-all', 'true')", ", options => map('min-input-files', '2')", ", options => map('delete-file-threshold', '1')"}[r.IntN(4)]
		strategy := []string{"", ", strategy => 'sort', sort_order => 'k DESC'", ", strategy => 'sort', sort_order => 'zorder(k)'"}[r.IntN(3)]
		return h.exec(fmt.Sprintf("CALL system.rewrite_data_files('%s'%s%s)", t, strategy, options))
	case 5:
		return h.exec("CALL system.rewrite_position_delete_files('s.t'" + []string{"", ", options => map('rewrite-all', 'true')"}[r.IntN(2)] + ")")
	case 0:
		keep := 1 + r.IntN(4)
		if err := h.exec(fmt.Sprintf("CALL system.expire_snapshots('s.t', older_than => now() + interval '1 day', retain_last => %d, clean_expired_metadata => %v)", keep, r.IntN(2) == 0)); err != nil {
			return err
		}
		left, err := h.snapshots(ctx)
		if err != nil {
			return err
		}
		// Heads of other branches and tags stay, wherever they are.
		got, err := rows(ctx, h.s, "SELECT count(*) FROM t.snapshots WHERE snapshot_id NOT IN (SELECT snapshot_id FROM t.refs)")
		if err != nil || len(got) != 1 || len(got[0]) > 3 {
			return fmt.Errorf("counting snapshots: %v, %v", got, err)
		}
		if n, _ := strconv.Atoi(got[0]); n > len(h.heads)*(keep-1) {
			return fmt.Errorf("%d snapshots are left that are no heads, of each of %d branches %d were to be retained", n, len(h.heads), keep)
		}
		return h.forget(ctx, left)
	case 1:
		i := r.IntN(len(snaps))
		q := fmt.Sprintf("CALL system.expire_snapshots('s.t', older_than => TIMESTAMP '2000-01-01', snapshot_ids => ARRAY[%d])", snaps[i])
		got, err := rows(ctx, h.s, "SELECT count(*) FROM t.refs WHERE snapshot_id = "+strconv.FormatInt(snaps[i], 10))
		if err != nil || got[0] != "0" {
			return err // it is a head
		}
		if err := h.exec(q); err != nil {
			return err
		}
		return h.forget(ctx, slices.Delete(snaps, i, i+1))
	case 2:
		return h.orphans(ctx)
	default:
		if r.IntN(2) == 0 {
			if err := h.exec(fmt.Sprintf("ALTER TABLE t SET TBLPROPERTIES ('commit.manifest.target-size-bytes' = '%d')", []int{4000, 12000, 8 << 20}[r.IntN(3)])); err != nil {
				return err
			}
		}
		return h.exec("CALL system.rewrite_manifests('s.t')")
	}
}

// erase erases a value of a column: rows that have it leave every branch, tags and snapshots that hold
// it go, or are rewritten without the rows, and nobody holds it afterwards. Rows of others, and their ids,
// stay.
func (h *state) erase(ctx context.Context, r *rand.Rand) error {
	main := h.heads["main"]
	if len(main.cols) == 0 {
		return nil
	}
	i := r.IntN(len(main.cols))
	c := main.cols[i]
	v := randomValue(r, c.kind)
	if n := len(main.rows); n > 0 && r.IntN(4) > 0 {
		v = main.rows[r.IntN(n)].vals[i]
	}
	if v == nil {
		return nil
	}
	cond := c.name + " = " + literal(v, c.kind)
	tags := []string{"DROP", "REWRITE"}[r.IntN(2)]
	q := "ERASE FROM t WHERE " + cond + " REASON 'r' TAGS " + tags
	h.script = append(h.script, q)
	got, err := rows(ctx, h.s, q)
	if err != nil {
		return fmt.Errorf("%s: %s", q, errText(err))
	}
	// A text that another begins with is in it still.
	within := *v == strings.Repeat("long", 8)
	done := strings.Contains(strings.Join(got, "\n"), "|DONE|")
	if !done && !(within && strings.Contains(strings.Join(got, "\n"), "|PENDING|")) {
		return fmt.Errorf("%s: %s", q, strings.Join(got, "\n"))
	}
	if got, err = rows(ctx, h.s, "SHOW HOLDERS FROM t WHERE "+cond+map[bool]string{true: " WITH (paranoid)"}[done]); err != nil || len(got) > 0 {
		return fmt.Errorf("after %s: %v\n%s", q, err, strings.Join(got, "\n"))
	}
	forget := func(t *table) {
		at := slices.IndexFunc(t.cols, func(x column) bool { return x.id == c.id })
		if at >= 0 {
			t.rows = slices.DeleteFunc(t.rows, func(x row) bool { return x.vals[at] != nil && *x.vals[at] == *v })
		}
	}
	for _, t := range h.heads {
		forget(t)
	}
	before := len(h.past)
	if tags == "REWRITE" {
		for _, t := range h.past {
			forget(t)
		}
		for _, t := range h.tags {
			forget(t)
		}
	}
	got, err = rows(ctx, h.s, "SELECT name FROM t.refs WHERE type = 'TAG'")
	if err != nil {
		return err
	}
	for name := range h.tags {
		if !slices.Contains(got, name) {
			delete(h.tags, name)
			if tags == "REWRITE" {
				return fmt.Errorf("%s has dropped tag %s", q, name)
			}
		}
	}
	left, err := h.snapshots(ctx)
	if err == nil {
		err = h.forget(ctx, left)
	}
	if err == nil && tags == "REWRITE" && len(h.past) < before {
		return fmt.Errorf("%s: of %d snapshots %d are left", q, before, len(h.past))
	}
	for _, id := range slices.Sorted(maps.Keys(h.past)) {
		if err == nil && tags == "REWRITE" {
			err = h.same(fmt.Sprintf("t FOR VERSION AS OF %d", id), h.past[id], randomPred(r, h.past[id], 1))
		}
	}
	return err
}

func (h *state) snapshots(ctx context.Context) ([]int64, error) {
	got, err := rows(ctx, h.s, "SELECT snapshot_id FROM t.snapshots")
	var out []int64
	for _, g := range got {
		id, _ := strconv.ParseInt(g, 10, 64)
		out = append(out, id)
	}
	return out, err
}

// forget takes the expired snapshots out of the model: all of those that are left are in it still, and
// the table's folder holds their files and no others.
func (h *state) forget(ctx context.Context, left []int64) error {
	for id := range h.past {
		if !slices.Contains(left, id) {
			delete(h.past, id)
		}
	}
	held, err := h.held(ctx)
	if err != nil {
		return err
	}
	return h.folder(func(p string) error {
		if !held[p] && !strings.HasSuffix(p, ".metadata.json") {
			return fmt.Errorf("nothing holds %s", p)
		}
		delete(held, p)
		return nil
	}, func() error {
		for p := range held {
			return fmt.Errorf("%s is held and gone", p)
		}
		return nil
	})
}

// held lists the files of all snapshots as the metadata tables say.
func (h *state) held(ctx context.Context) (map[string]bool, error) {
	got, err := rows(ctx, h.s, "SELECT file_path FROM t.all_files UNION SELECT path FROM t.all_manifests UNION SELECT manifest_list FROM t.snapshots")
	held := map[string]bool{}
	for _, p := range got {
		held[strings.TrimPrefix(p, "file://")] = true
	}
	return held, err
}

// folder goes through the files of the table's folder.
func (h *state) folder(each func(path string) error, end func() error) error {
	err := filepath.WalkDir(filepath.Join(h.dir, "warehouse"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		return each(p)
	})
	if err != nil {
		return err
	}
	return end()
}

// orphans puts a file that nobody holds beside the table's, makes all files old, and has orphans
// removed: that one goes, and what is left is held.
func (h *state) orphans(ctx context.Context) error {
	got, err := rows(ctx, h.s, "SELECT file_path FROM t.all_files LIMIT 1")
	if err != nil || len(got) == 0 {
		return err
	}
	dir := filepath.Dir(strings.TrimPrefix(got[0], "file://"))
	orphan := filepath.Join(dir, fmt.Sprintf("orphan-%d.parquet", len(h.script)))
	if err := os.WriteFile(orphan, []byte("PAR1"), 0o644); err != nil {
		return err
	}
	old := time.Now().Add(-10 * 24 * time.Hour)
	err = h.folder(func(p string) error { return os.Chtimes(p, old, old) }, func() error { return nil })
	if err != nil {
		return err
	}
	list, err := rows(ctx, h.s, "CALL system.remove_orphan_files('s.t')")
	if err != nil {
		return fmt.Errorf("remove_orphan_files: %s", errText(err))
	}
	h.script = append(h.script, "-- an orphan, all files 10 days old\nCALL system.remove_orphan_files('s.t')")
	if !slices.Contains(list, orphan) {
		return fmt.Errorf("%s was not found among %v", orphan, list)
	}
	left, err := h.snapshots(ctx)
	if err != nil {
		return err
	}
	return h.forget(ctx, left)
}
