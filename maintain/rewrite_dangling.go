package maintain

import (
	"context"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// deleteUse tells, of each live delete file of a snapshot, how many live data files it may delete
// rows of. One without any dangles: it deletes nothing, and nothing will ever make it delete
// something, since what is added later has a later sequence number. It would stay for ever, for
// nobody ever rewrites a file that it applies to (apache/iceberg#4127).
//
//	uses(d) = |{f live : seq(f) ≤ seq(d) (equality: <), of d's partition, d's one file if it names one}|
type deleteUse struct {
	files map[string]*lake.DataFile // delete files by key
	uses  map[string]int
}

// deleteKey tells delete files apart: several deletion vectors share a Puffin file.
func deleteKey(d *lake.DataFile) string {
	if d.Content == lake.DeletionVector {
		return d.Path + "\x00" + d.ReferencedFile
	}
	return d.Path
}

// use counts what the delete files of s are for.
func (p *RewritePlan) use(ctx context.Context, s *state) error {
	if s.uses == nil {
		s.uses = map[string]int{}
		for i := range s.tasks {
			s.use(&s.tasks[i])
		}
	}
	u := &deleteUse{files: map[string]*lake.DataFile{}, uses: s.uses}
	p.held = u
	if s.snapshot == nil {
		return nil
	}
	manifests, err := s.table.Manifests(ctx, s.snapshot)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		if !m.Deletes {
			continue
		}
		entries, err := s.table.Entries(ctx, m)
		if err != nil {
			return err
		}
		for i := range entries {
			if e := &entries[i]; e.Status != lake.Deleted && e.File.Content != lake.Data {
				u.files[deleteKey(e.File)] = e.File
			}
		}
	}
	return nil
}

// use notes which deletes apply to a file.
func (s *state) use(t *plan.FileTask) {
	for _, d := range t.Deletes {
		s.uses[deleteKey(d)]++
	}
}

// dangling are the delete files that nothing is left for once the groups are rewritten.
func (u *deleteUse) dangling(groups []*RewriteGroup) []*lake.DataFile {
	left := u.without(groups)
	var out []*lake.DataFile
	for k, d := range u.files {
		if left[k] == 0 {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b *lake.DataFile) int { return strings.Compare(deleteKey(a), deleteKey(b)) })
	return out
}

// without are the uses that are left.
func (u *deleteUse) without(groups []*RewriteGroup) map[string]int {
	left := make(map[string]int, len(u.uses))
	for k, n := range u.uses {
		left[k] = n
	}
	for _, g := range groups {
		for i := range g.Tasks {
			for _, d := range g.Tasks[i].Deletes {
				left[deleteKey(d)]--
			}
		}
	}
	return left
}

// done notes that the groups are rewritten, and that dropped are gone.
func (u *deleteUse) done(groups []*RewriteGroup, dropped []*lake.DataFile) {
	u.uses = u.without(groups)
	for _, d := range dropped {
		delete(u.files, deleteKey(d))
	}
}
