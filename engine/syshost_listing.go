package engine

import (
	"context"
	"maps"
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
	of map[string]listing
}

type listing struct {
	version    string
	namespaces []string
	entries    map[string][]syscat.Entry
	names      syscat.Names
}

// Names implements syscat.Host.
func (h *host) Names(ctx context.Context, enumerate func() (syscat.Names, error)) (*syscat.Names, error) {
	h.recall(ctx)
	if h.names.Made() {
		return &h.names, nil
	}
	n, err := enumerate()
	if err != nil {
		return nil, err
	}
	h.names = n
	if h.version != "" && n.Len() <= listingLimit {
		l := &h.s.engine.listings
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.of == nil {
			l.of = map[string]listing{}
		}
		l.of[h.catalog] = listing{version: h.version, namespaces: h.namespaces, entries: maps.Clone(h.entries), names: n}
	}
	return &h.names, nil
}

// recall takes over the listing that the engine keeps, if it is of the catalog as it is now. The
// version is read before anything is listed, so that a change in between makes the listing old
// and not the version new. Temporary tables are the session's own, and their listing too.
func (h *host) recall(ctx context.Context) {
	if h.recalled {
		return
	}
	h.recalled = true
	v, ok := h.s.catalogOf(h.catalog).(lake.Versioned)
	if !ok || h.s.temp != nil {
		return
	}
	h.version = v.Version(ctx)
	l := &h.s.engine.listings
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.of[h.catalog]; ok && h.version != "" && k.version == h.version {
		h.namespaces, h.entries, h.names = k.namespaces, maps.Clone(k.entries), k.names
	}
}
