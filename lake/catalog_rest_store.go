package lake

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// A REST catalog tells with each table how its objects are reached (the LoadTableResult's config
// and storage-credentials of the REST specification), often with credentials that last an hour
// and open that table alone. The library's client merges what the catalog says with what the user
// configured, and would hand it to a file system of its own: it is handed to storeProps instead,
// which keeps it for our Store.
type storeProps map[string]string

func init() {
	for _, scheme := range []string{"s3", "s3a", "s3n"} {
		io.Register(scheme, func(_ context.Context, _ *url.URL, props map[string]string) (io.IO, error) {
			return storeProps(props), nil
		})
	}
}

func (storeProps) Open(string) (io.File, error) { return nil, errors.New("opened past the Store") }
func (storeProps) Remove(string) error          { return errors.New("removed past the Store") }

// maxStores bounds the object stores that a catalog keeps: credentials end, tables are many.
const maxStores = 64

// storeOf is the store that reaches t's objects.
func (c *restCatalog) storeOf(ctx context.Context, t *table.Table) (*Store, error) {
	if scheme, _ := splitScheme(t.Location()); scheme == "" || scheme == "file" {
		return c.store, nil
	}
	files, err := t.FS(ctx)
	if err != nil {
		return nil, c.fail(err, "table", strings.Join(t.Identifier(), "."))
	}
	props, ok := files.(storeProps)
	if !ok {
		return c.store, nil
	}
	own := storeKey(props)
	if own == storeKey(c.props) {
		return c.store, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.stores[own]; ok {
		return s, nil
	}
	if c.stores == nil || len(c.stores) >= maxStores {
		c.stores = map[string]*Store{}
	}
	s := NewStore(props)
	c.stores[own] = s
	return s, nil
}

// storeKey is what of props decides how objects are reached.
func storeKey(props map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(props)) {
		if strings.HasPrefix(k, "s3.") || k == "client.region" {
			b.WriteString(k + "=" + props[k] + "\n")
		}
	}
	return b.String()
}
