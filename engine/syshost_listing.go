package engine

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/lake"
)

// listingLimit is how many names of a catalog are kept from one statement to the next: a client
// that browses asks for them again and again, but they are no part of any statement's memory.
const listingLimit = 100_000

// listings keep each catalog's names while its version is the same. What is in a listing does
// not change any more; sessions share it.
type listings struct {
	mu sync.Mutex
	of map[string]*listing
}

type listing struct {
	version    string
	namespaces []string
	entries    map[string][]syscat.Entry
	names      syscat.Names
	listed     int // names in entries
	// tables are those that were described since: no row of the catalog has changed, so they are
	// the same. Views depend on more than their own row.
	tables  map[lake.Name]*syscat.Relation
	columns int // of all tables
}

// describedLimit is how many columns of tables are kept.
const describedLimit = 50_000

// ownListing is the enumeration of a session that has temporary tables: nobody else sees those.
type ownListing struct {
	catalog, version string
	temporary        []syscat.Entry
	names            syscat.Names
}

// ownLimit is how many names a session keeps for itself.
const ownLimit = 10_000

// Names implements syscat.Host.
func (h *host) Names(ctx context.Context, enumerate func() (syscat.Names, error)) (*syscat.Names, error) {
	h.recall(ctx)
	if h.names.Made() {
		return &h.names, nil
	}
	var temporary []syscat.Entry
	if h.hasTemporary() {
		var err error
		if temporary, err = h.Entries(ctx, h.s.temporarySchema()); err != nil {
			return nil, err
		}
		if own := &h.s.own; h.version != "" && own.version == h.version && own.catalog == h.catalog && slices.Equal(own.temporary, temporary) {
			h.names = own.names
			return &h.names, nil
		}
	}
	n, err := enumerate()
	if err != nil {
		return nil, err
	}
	h.names = n
	if h.version != "" && n.Len() <= listingLimit {
		h.share(temporary)
	}
	return &h.names, nil
}

// update adds to the listing of the catalog as it is, which is begun where there is none. MySQL's
// catalogs ask for one schema's names, and never for all.
func (h *host) update(f func(*listing)) {
	if h.version == "" {
		return
	}
	l := &h.s.engine.listings
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.of[h.catalog]
	if k == nil || k.version != h.version {
		if l.of == nil {
			l.of = map[string]*listing{}
		}
		k = &listing{version: h.version, entries: map[string][]syscat.Entry{}, tables: map[lake.Name]*syscat.Relation{}}
		l.of[h.catalog] = k
	}
	f(k)
}

func (h *host) hasTemporary() bool { return h.s.temp != nil && h.catalog == h.s.catalog }

// share keeps what has been listed for the sessions to come, without what is this session's own.
func (h *host) share(temporary []syscat.Entry) {
	l := &h.s.engine.listings
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]*listing{}
	}
	k := &listing{version: h.version, namespaces: h.namespaces, entries: maps.Clone(h.entries), names: h.names, tables: map[lake.Name]*syscat.Relation{}}
	if old := l.of[h.catalog]; old != nil && old.version == h.version {
		k.tables, k.columns = old.tables, old.columns
	}
	if h.hasTemporary() {
		if h.names.Len() <= ownLimit {
			h.s.own = ownListing{catalog: h.catalog, version: h.version, temporary: temporary, names: h.names}
		}
		if l.of[h.catalog] != nil && l.of[h.catalog].version == h.version && l.of[h.catalog].names.Made() {
			return
		}
		own := h.s.temporarySchema()
		delete(k.entries, own)
		k.namespaces = slices.DeleteFunc(slices.Clone(k.namespaces), func(n string) bool { return n == own })
		k.names = syscat.Names{}
	}
	l.of[h.catalog] = k
}

// described gives a table's description that is kept, keep keeps one.
func (h *host) described(n lake.Name) *syscat.Relation {
	if h.s.tx.block {
		return nil // it reads tables as they were, or as it has changed them
	}
	l := &h.s.engine.listings
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.of[h.catalog]; k != nil && h.version != "" && k.version == h.version {
		return k.tables[n]
	}
	return nil
}

func (h *host) keep(n lake.Name, r *syscat.Relation) {
	l := &h.s.engine.listings
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.of[h.catalog]
	if h.s.tx.block || k == nil || h.version == "" || k.version != h.version || k.columns > describedLimit || n.Catalog != h.catalog {
		return
	}
	k.tables[n] = r
	k.columns += len(r.Columns) + 10
}

// recall takes over the listing that the engine keeps, if it is of the catalog as it is now. The
// version is read before anything is listed, so that a change in between makes the listing old
// and not the version new.
func (h *host) recall(ctx context.Context) {
	if h.recalled {
		return
	}
	h.recalled = true
	v, ok := h.s.catalogOf(h.catalog).(lake.Versioned)
	if !ok {
		return
	}
	h.version = v.Version(ctx)
	l := &h.s.engine.listings
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.of[h.catalog]
	if k == nil || h.version == "" || k.version != h.version {
		return
	}
	h.entries = maps.Clone(k.entries)
	if h.namespaces = k.namespaces; h.hasTemporary() {
		if k.namespaces != nil {
			h.namespaces = append(slices.Clone(k.namespaces), h.s.temporarySchema())
		}
		return
	}
	h.names = k.names
}
