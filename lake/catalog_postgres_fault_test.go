package lake

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// breaker stands before a PostgreSQL server and breaks a connection at a statement of the client's.
type breaker struct {
	server string
	l      net.Listener

	mu    sync.Mutex
	at    string // the statement's first word; "": none
	after bool   // once the server has answered it, and not before it is passed on
	down  bool   // since then nobody gets through
	hits  int
	open  []net.Conn
}

func newBreaker(t *testing.T, server string) *breaker {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &breaker{server: server, l: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(c)
		}
	}()
	return b
}

// takes tells whether a statement is the one, and whether the server still gets it.
func (b *breaker) takes(kind byte, body []byte) (is, after bool) {
	text := string(body)
	if kind == 'P' { // Parse: the statement's name comes first
		_, text, _ = strings.Cut(text, "\x00")
	} else if kind != 'Q' {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == "" || b.hits > 0 || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), b.at) {
		return false, false
	}
	b.hits++
	return true, b.after
}

func (b *breaker) serve(c net.Conn) {
	defer c.Close()
	b.mu.Lock()
	dead := b.down && b.hits > 0
	b.open = append(b.open, c)
	b.mu.Unlock()
	if dead {
		return
	}
	s, err := net.Dial("tcp", b.server)
	if err != nil {
		return
	}
	defer s.Close()
	swallow := make(chan struct{})
	var once sync.Once
	go func() { // from the server
		defer c.Close()
		for {
			kind, msg, err := message(s, true)
			if err != nil {
				return
			}
			select {
			case <-swallow:
				if kind == 'Z' {
					return // it is done, and nobody hears of it
				}
				continue
			default:
			}
			if _, err := c.Write(msg); err != nil {
				return
			}
		}
	}()
	typed := false // the first message has no type
	for {
		kind, msg, err := message(c, typed)
		if err != nil {
			return
		}
		if typed {
			is, after := b.takes(kind, msg[5:])
			if is && !after {
				return
			}
			if is {
				once.Do(func() { close(swallow) })
			}
		}
		typed = true
		if _, err := s.Write(msg); err != nil {
			return
		}
	}
}

// message reads one message of the protocol, with its header.
func message(r io.Reader, typed bool) (kind byte, msg []byte, err error) {
	head := make([]byte, 4)
	if typed {
		head = make([]byte, 5)
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	n := int(binary.BigEndian.Uint32(head[len(head)-4:])) - 4
	msg = append(head, make([]byte, n)...)
	_, err = io.ReadFull(r, msg[len(head):])
	return head[0], msg, err
}

// A database connection that breaks at any statement of a write, before the server has it or after it
// has done it, with or without a server to ask afterwards: the write is there once or not at all, what
// is reported is true, and what is certainly not there has left no file.
func TestPostgresFaults(t *testing.T) {
	uri := postgres(t)
	proxy := newBreaker(t, strings.TrimSuffix(strings.TrimPrefix(uri, "postgresql://postgres@"), "/postgres"))
	spec := TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}}
	n := func(name string) Name { return Name{Namespace: "a", Table: name} }
	has := func(name string) func(*fixture) bool {
		return func(f *fixture) bool {
			_, err := f.c.Load(f.ctx, n(name))
			gone, err := missing(err)
			f.must(err)
			return !gone
		}
	}
	for i, p := range []struct {
		name string
		run  func(f *fixture, c Catalog) error
		did  func(f *fixture) bool
		// told: a lost answer is found out about.
		told bool
	}{
		{"append", func(f *fixture, c Catalog) error {
			_, err := c.Commit(f.ctx, f.name, Change{Add: []*DataFile{f.file(2)}})
			return err
		}, func(f *fixture) bool { return f.snapshotsAdding(f.name, "f2") == 1 }, true},
		{"set a property", func(f *fixture, c Catalog) error {
			_, err := c.Commit(f.ctx, f.name, Change{Edit: func(e *Edit) error { return e.SetProperties(map[string]string{"p": "q"}) }})
			return err
		}, func(f *fixture) bool { return f.load().Properties()["p"] == "q" }, true},
		{"create", func(f *fixture, c Catalog) error { _, err := c.Create(f.ctx, n("made"), spec); return err }, has("made"), true},
		{"replace", func(f *fixture, c Catalog) error {
			_, err := c.Create(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("y", "date")}}, Replace: true})
			return err
		}, func(f *fixture) bool { return f.load().Schema().Fields[0].Name == "y" }, true},
		{"several tables", func(f *fixture, c Catalog) error {
			set := func(e *Edit) error { return e.SetProperties(map[string]string{"p": "q"}) }
			_, err := c.CommitAll(f.ctx, []TableChange{{f.name, Change{Edit: set}}, {n("u"), Change{Edit: set}}})
			return err
		}, func(f *fixture) bool {
			u, err := f.c.Load(f.ctx, n("u"))
			f.must(err)
			if u.Properties()["p"] != f.load().Properties()["p"] {
				f.t.Error("one of two tables was changed")
			}
			return u.Properties()["p"] == "q"
		}, true},
		{"transaction with definitions", func(f *fixture, c Catalog) error {
			tx := Begin(c)
			table, err := tx.Load(f.ctx, f.name)
			f.must(err)
			_, err = tx.Commit(f.ctx, f.name, Change{Base: table, Add: []*DataFile{f.fileOf(table, 2)}})
			f.must(err)
			f.must(tx.Rename(f.ctx, n("u"), n("renamed")))
			_, err = tx.CreateView(f.ctx, n("w"), ViewSpec{Schema: spec.Schema, Representations: map[string]string{"lhsql": "select 1"}}, false)
			f.must(err)
			_, err = tx.Publish(f.ctx)
			return err
		}, func(f *fixture) bool {
			did := f.snapshotsAdding(f.name, "f2") == 1
			_, err := f.c.LoadView(f.ctx, n("w"))
			if gone, _ := missing(err); has("renamed")(f) != did || gone == did {
				f.t.Error("the transaction is there in part")
			}
			return did
		}, true},
		{"drop", func(f *fixture, c Catalog) error { return c.Drop(f.ctx, n("u"), false) }, func(f *fixture) bool { return !has("u")(f) }, false},
		{"rename", func(f *fixture, c Catalog) error { return c.Rename(f.ctx, n("u"), n("renamed")) }, has("renamed"), false},
		{"create view", func(f *fixture, c Catalog) error {
			_, err := c.CreateView(f.ctx, n("w"), ViewSpec{Schema: spec.Schema, Representations: map[string]string{"lhsql": "select 1"}}, false)
			return err
		}, func(f *fixture) bool { _, err := f.c.LoadView(f.ctx, n("w")); return err == nil }, false},
		{"create schema", func(f *fixture, c Catalog) error { return c.CreateNamespace(f.ctx, "b", nil) },
			func(f *fixture) bool { _, err := f.c.NamespaceProperties(f.ctx, "b"); return err == nil }, false},
	} {
		for _, at := range []string{"begin", "commit"} {
			for _, after := range []bool{false, true} {
				for _, down := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s after %v down %v", p.name, at, after, down), func(t *testing.T) {
						dir := t.TempDir()
						ctx := clock.With(context.Background(), &ticks{now: clockStart})
						name := fmt.Sprintf("c%d%s%v%v", i, at, after, down)
						open := func(uri string) Catalog {
							c, err := OpenCatalog(ctx, name, map[string]string{"uri": uri, "warehouse": dir + "/wh"})
							if err != nil {
								t.Fatal(err)
							}
							t.Cleanup(func() { c.Close() })
							return c
						}
						f := &fixture{t: t, ctx: ctx, c: open(uri), dir: dir, name: n("t")}
						f.must(f.c.CreateNamespace(ctx, "a", nil))
						for _, table := range []string{"t", "u"} {
							_, err := f.c.Create(ctx, n(table), spec)
							f.must(err)
						}
						_, err := f.c.Commit(ctx, f.name, Change{Add: []*DataFile{f.file(1)}})
						f.must(err)
						c := open("postgresql://postgres@" + proxy.l.Addr().String() + "/postgres?sslmode=disable")
						before := f.metadataFiles()

						proxy.mu.Lock()
						proxy.at, proxy.after, proxy.down, proxy.hits = at, after, down, 0
						proxy.mu.Unlock()
						err = p.run(f, c)
						proxy.mu.Lock()
						hits := proxy.hits
						proxy.at, proxy.down = "", false
						proxy.mu.Unlock()
						if hits == 0 {
							t.Fatal("the connection did not break")
						}
						if at == "begin" && !down && err != nil {
							t.Errorf("it had not begun, and was not begun again: %v", err)
						}
						did, landed := p.did(f), at == "commit" && after
						switch Outcome(err) {
						case Committed:
							if !did {
								t.Error("it is reported as done and is not")
							}
						case Aborted:
							if did {
								t.Errorf("it is done, and reported as not done: %v", err)
							}
							if left := f.metadataFiles(); left != before {
								t.Errorf("%v, and files are left:\n%s\nbefore\n%s", err, left, before)
							}
						case Unknown:
							if at != "commit" || p.told && landed && !down {
								t.Errorf("it could be known: %v", err)
							}
							if sqlerr.CodeOf(err) != sqlerr.TransactionUnknown {
								t.Errorf("%v has the code %s", err, sqlerr.CodeOf(err))
							}
						}
						if landed != did && !(err == nil && did) {
							t.Errorf("landed %v, and it is done: %v (%v)", landed, did, err)
						}
					})
				}
			}
		}
	}
}

// A reading statement whose connection breaks, or finds all of them broken, is asked again on a new one;
// while the server is away it fails with 08006.
func TestPostgresIsReadAgain(t *testing.T) {
	uri := postgres(t)
	proxy := newBreaker(t, strings.TrimSuffix(strings.TrimPrefix(uri, "postgresql://postgres@"), "/postgres"))
	ctx := context.Background()
	c, err := OpenCatalog(ctx, "again", map[string]string{"uri": "postgresql://postgres@" + proxy.l.Addr().String() + "/postgres?sslmode=disable", "warehouse": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.CreateNamespace(ctx, "a", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(ctx, Name{Namespace: "a", Table: "t"}, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}}); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func() error{
		"load":       func() error { _, err := c.Load(ctx, Name{Namespace: "a", Table: "t"}); return err },
		"list":       func() error { _, err := c.List(ctx, "a"); return err },
		"namespaces": func() error { _, err := c.Namespaces(ctx); return err },
		"properties": func() error { _, err := c.NamespaceProperties(ctx, "a"); return err },
		"views":      func() error { _, err := c.Views(ctx, "a"); return err },
	}
	for name, read := range reads {
		for _, after := range []bool{false, true} {
			for _, down := range []bool{false, true} {
				proxy.endAll() // what was prepared on a connection is not sent again
				proxy.mu.Lock()
				proxy.at, proxy.after, proxy.down, proxy.hits = "select", after, down, 0
				proxy.mu.Unlock()
				err := read()
				proxy.mu.Lock()
				hits := proxy.hits
				proxy.at, proxy.down = "", false
				proxy.mu.Unlock()
				switch {
				case hits == 0:
					t.Errorf("%s: the connection did not break", name)
				case down && sqlerr.CodeOf(err) != sqlerr.ConnectionFailure:
					t.Errorf("%s, and the server is away: %v", name, err)
				case !down && err != nil:
					t.Errorf("%s, after %v: %v", name, after, err)
				}
				if err := read(); err != nil {
					t.Errorf("%s, and the server is back: %v", name, err)
				}
			}
		}
		// The server ends all connections that lie idle.
		proxy.endAll()
		if err := read(); err != nil {
			t.Errorf("%s, and no connection is left: %v", name, err)
		}
	}
}

// endAll ends every connection.
func (b *breaker) endAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.open {
		c.Close()
	}
	b.open = nil
}

// metadataFiles lists the files of the warehouse.
func (f *fixture) metadataFiles() string {
	var out []string
	f.must(filepath.WalkDir(f.dir+"/wh", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out = append(out, p)
		}
		return err
	}))
	return strings.Join(out, "\n")
}
