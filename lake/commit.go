package lake

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// engineName and EngineVersion are written into snapshots and views.
const engineName = "lhsql"

// EngineVersion is set by the program at start.
var EngineVersion = "dev"

// commitEngine commits changes for catalogs that keep only a pointer to a metadata file.
type commitEngine struct {
	pointers pointers
	load     func(ctx context.Context, n Name, loc string) (*Table, error)
	clock    Clock
}

var metadataNumber = regexp.MustCompile(`(?:^|/)v?(\d+)[-.][^/]*$`)

// nextMetadataName is the file name after the metadata file at loc: NNNNN-uuid.metadata.json.
func nextMetadataName(loc string, gz bool) string {
	n := 0
	if m := metadataNumber.FindStringSubmatch(loc); m != nil {
		if v, err := strconv.Atoi(m[1]); err == nil {
			n = v + 1
		}
	}
	ext := ".metadata.json"
	if gz {
		ext = ".gz.metadata.json"
	}
	return fmt.Sprintf("%05d-%s%s", n, uuid.NewString(), ext)
}

var errNoCommit = sqlerr.New(sqlerr.FeatureNotSupported, "writing is not supported yet")

func (c *sqlCatalog) Create(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	return nil, errNoCommit
}
func (c *sqlCatalog) Stage(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	return nil, errNoCommit
}
func (c *sqlCatalog) CommitStaged(ctx context.Context, staged *Table, ch Change) (*Table, error) {
	return nil, errNoCommit
}
func (c *sqlCatalog) Commit(ctx context.Context, n Name, ch Change) (*Table, error) {
	return nil, errNoCommit
}
func (c *sqlCatalog) CommitAll(ctx context.Context, changes []TableChange) ([]*Table, error) {
	return nil, errNoCommit
}

type Edit struct{}

func purgeFiles(ctx context.Context, t *Table) error { return errNoCommit }

func openREST(ctx context.Context, name string, p map[string]string) (Catalog, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "REST catalogs are not supported yet")
}

var _ = strings.Cut
