package lake

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
)

// OpenPath opens a table by a metadata file or by its folder, wherever it lies now. A path
// table is read only: no catalog guards its pointer.
func OpenPath(ctx context.Context, path string) (*Table, error) {
	return OpenPathIn(ctx, NewStore(nil), path, nil)
}

// OpenPathIn is OpenPath through a store. Where allow is not nil the path must lie under one
// of these locations.
func OpenPathIn(ctx context.Context, files store.FS, path string, allow []string) (*Table, error) {
	loc := store.Canonical(path)
	if !store.IsObject(loc) {
		abs, err := filepath.Abs(loc)
		if err != nil {
			return nil, sqlerr.Wrap(err, sqlerr.IOError, "open %s", path)
		}
		loc = abs
	}
	if allow != nil {
		if err := store.Allowed(loc, canonicalAll(allow)); err != nil {
			return nil, err
		}
	}
	name := Name{Table: tableNameOf(loc)}
	if !isMetadataFile(loc) {
		m, err := latestMetadata(ctx, files, loc)
		if err != nil {
			return nil, err
		}
		loc = m
	}
	return loadTable(ctx, files, name, loc, canonicalAll(allow))
}

func canonicalAll(list []string) []string {
	var out []string
	for _, l := range list {
		out = append(out, store.Canonical(l))
	}
	return out
}

func isMetadataFile(loc string) bool {
	return strings.HasSuffix(loc, ".metadata.json") || strings.HasSuffix(loc, ".metadata.json.gz")
}

func tableNameOf(loc string) string {
	if isMetadataFile(loc) {
		loc = store.Parent(loc)
	}
	loc = strings.TrimSuffix(loc, "/metadata")
	return loc[strings.LastIndexByte(loc, '/')+1:]
}

// versioned matches the names of metadata files: v3.metadata.json, v3.gz.metadata.json,
// 00003-uuid.metadata.json(.gz).
var versioned = regexp.MustCompile(`^v?(\d+)(-[^/]*|\.gz)?\.metadata\.json(\.gz)?$`)

func metadataVersion(name string) (int, bool) {
	m := versioned.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// latestMetadata chooses the newest metadata file of a table folder: the one that
// version-hint.text names, or a later one (the hint may lag), by version number. Of several
// with one number, which concurrent writers may leave behind, the hint decides, else the
// latest update.
func latestMetadata(ctx context.Context, files store.FS, folder string) (string, error) {
	dir := store.Join(folder, "metadata")
	if strings.HasSuffix(folder, "/metadata") {
		dir = folder
	}
	hint := ""
	if b, err := files.ReadAll(ctx, store.Join(dir, "version-hint.text")); err == nil && len(b) < 1024 {
		hint = strings.TrimSpace(string(b))
	}
	hinted := func(name string) bool {
		return hint != "" && (strings.HasPrefix(name, hint+".") || strings.HasPrefix(name, "v"+hint+"."))
	}
	var best []string
	top := -1
	err := files.List(ctx, dir, func(o store.Object) error {
		p := o.Path
		name := p[strings.LastIndexByte(p, '/')+1:]
		if o.Partial || store.Parent(store.Canonical(p)) != dir {
			return nil
		}
		if n, ok := metadataVersion(name); ok {
			if n > top {
				top, best = n, nil
			}
			if n == top {
				best = append(best, p)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", sqlerr.Wrap(err, sqlerr.IOError, "list %s", dir)
	}
	if len(best) == 0 {
		return "", sqlerr.New(sqlerr.UndefinedTable, "%s holds no Iceberg table: there is no metadata file in it", folder)
	}
	for _, p := range best {
		if hinted(p[strings.LastIndexByte(p, '/')+1:]) {
			return p, nil
		}
	}
	return newestOf(ctx, files, best)
}

func newestOf(ctx context.Context, in store.FS, files []string) (string, error) {
	if len(files) == 1 {
		return files[0], nil
	}
	best, at := "", int64(-1)
	for _, p := range files {
		b, err := in.ReadAll(ctx, p)
		if err != nil {
			return "", sqlerr.Wrap(err, sqlerr.IOError, "read table metadata %s", p)
		}
		s, err := parseMetadata(b)
		if err != nil {
			continue // a writer died within it
		}
		if ms := s.lastUpdated.UnixMilli(); ms > at {
			best, at = p, ms
		}
	}
	if best == "" {
		return "", sqlerr.New(sqlerr.DataCorrupted, "none of the newest metadata files can be read: %s", strings.Join(files, ", "))
	}
	return best, nil
}
