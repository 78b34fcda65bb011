package lake

import (
	"maps"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/lake/store"
)

// A REST catalog tells with each table how its objects are reached (the LoadTableResult's config and
// storage-credentials), often with credentials that last an hour and open that table alone.

// vended are credentials that open the objects below a prefix.
type vended struct {
	Prefix string       `json:"prefix"`
	Config looseStrings `json:"config"`
}

// maxStores bounds the object stores that a catalog keeps: credentials end, tables are many.
const maxStores = 64

// storeOf is the store that reaches the objects of a table at a location, by the catalog's
// configuration, what the server says of the table over it, and over that, of each place below it, its
// credentials: "Clients must first check whether the respective credentials exist in the
// storage-credentials field before checking the config".
func (c *restCatalog) storeOf(location string, config map[string]string, credentials []vended) *Store {
	if scheme, _ := store.SplitScheme(location); scheme == "" || scheme == "file" {
		return c.store
	}
	props := maps.Clone(c.client.props)
	maps.Copy(props, config)
	credentials = slices.DeleteFunc(slices.Clone(credentials), func(v vended) bool { return !strings.HasPrefix(v.Prefix, "s3") })
	if len(credentials) == 0 {
		return c.storeBy(props)
	}
	var places []store.Place
	for _, v := range credentials {
		own := maps.Clone(props)
		if v.Config["s3.access-key-id"] != "" {
			delete(own, "s3.session-token") // which belongs to other keys
		}
		maps.Copy(own, v.Config)
		places = append(places, store.Place{Prefix: store.Canonical(v.Prefix), Store: c.storeBy(own).Store})
	}
	return NewStoreWith(c.store.known, props, places...)
}

// storeBy is the store of some properties.
func (c *restCatalog) storeBy(props map[string]string) *Store {
	own := storeKey(props)
	if own == storeKey(c.props) {
		return c.store
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.stores[own]; ok {
		return s
	}
	if c.stores == nil || len(c.stores) >= maxStores {
		c.stores = map[string]*Store{}
	}
	s := NewStoreWith(c.store.known, props)
	c.stores[own] = s
	return s
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
