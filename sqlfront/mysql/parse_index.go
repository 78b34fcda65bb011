package mysql

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/lakehouse"
)

// What is said about indexes is read and not kept: they could only make reading faster, for which
// tables have other means. A UNIQUE index says what rows there may be: it is a constraint.

// createIndex parses CREATE INDEX behind its first words.
func (p *parser) createIndex(pos int) ast.Stmt {
	p.Ident()
	p.usingType()
	p.Expect("on")
	t := p.Dotted()
	p.indexKey()
	p.indexOptions()
	return &ast.CreateIndex{Table: t, Pos: pos}
}

// dropIndex parses DROP INDEX behind its first words.
func (p *parser) dropIndex(pos int) ast.Stmt {
	name := p.Ident()
	p.Expect("on")
	a := &ast.AlterTable{Verb: "DROP INDEX", Pos: pos, Name: p.Table(), Actions: []ast.AlterAction{{Op: "drop index", NewName: name, Pos: pos}}}
	p.indexOptions()
	return a
}

// createUnique parses CREATE UNIQUE INDEX behind these words: a constraint of the index's name.
func (p *parser) createUnique(pos int) ast.Stmt {
	k := ast.Key{Name: p.Ident(), Pos: pos}
	p.usingType()
	p.Expect("on")
	a := &ast.AlterTable{Verb: "CREATE INDEX", Pos: pos, Name: p.Table()}
	p.uniqueColumns(&k)
	p.indexOptions()
	lakehouse.AddKey(k, func(x ast.AlterAction) { a.Actions = append(a.Actions, x) })
	return a
}

// index parses what follows KEY or INDEX in CREATE TABLE and ALTER TABLE.
func (p *parser) index() {
	if !p.Ahead("(") && !p.Ahead("using") {
		p.Ident()
	}
	p.usingType()
	p.indexKey()
	p.indexOptions()
}

// indexKey parses the columns of an index: c, c(10), (expression), each ASC or DESC.
func (p *parser) indexKey() {
	p.Parens(func() {
		p.List(func() {
			if p.Ahead("(") {
				p.Parens(func() { p.expr() })
			} else if p.Ident(); p.Ahead("(") {
				p.Parens(func() { p.At++ })
			}
			_ = p.Accept("asc") || p.Accept("desc")
		})
	})
}

func (p *parser) indexOptions() {
	for {
		switch {
		case p.Ahead("using"):
			p.usingType()
		case p.Accept("comment"):
			p.Str()
		case p.Accept("visible"), p.Accept("invisible"):
		case p.AcceptAny("key_block_size", "algorithm", "lock"):
			p.Accept("=")
			p.At++
		default:
			return
		}
	}
}

// alterWithout parses an action of ALTER TABLE that has no effect: on indexes, and on how MySQL
// stores a table. Its Op is "index" or "option"; alter takes it out.
func (p *parser) alterWithout(add func(ast.AlterAction)) bool {
	index, option := ast.AlterAction{Op: "index"}, ast.AlterAction{Op: "option"}
	switch {
	case p.Accept("add", "index"), p.Accept("add", "key"):
		p.index()
		add(index)
	case p.Accept("drop", "index"), p.Accept("drop", "key"):
		add(ast.AlterAction{Op: "drop index", NewName: p.Ident()})
	case p.Accept("rename", "index"), p.Accept("rename", "key"):
		a := ast.AlterAction{Op: "rename index", Keys: []string{p.Ident()}}
		p.Expect("to")
		a.NewName = p.Ident()
		add(a)
	case p.Accept("alter", "index"):
		p.Ident()
		_ = p.Accept("visible") || p.Accept("invisible")
		add(option)
	case p.Accept("disable", "keys"), p.Accept("enable", "keys"), p.Accept("force"):
		add(option)
	case p.Peek(0).Is("engine", "row_format", "avg_row_length", "checksum", "compression", "delay_key_write", "key_block_size", "max_rows",
		"min_rows", "pack_keys", "stats_auto_recalc", "stats_persistent", "stats_sample_pages", "algorithm", "lock"):
		p.At++
		p.Accept("=")
		p.At++
		add(option)
	case p.Accept("convert", "to"), p.Ahead("default", "character"), p.Ahead("default", "charset"), p.Ahead("default", "collate"),
		p.Ahead("character", "set"), p.Ahead("charset"), p.Ahead("collate"):
		p.Accept("default")
		n := p.At
		if p.charset(); p.At == n {
			p.SyntaxError()
		}
		add(option)
	default:
		return false
	}
	return true
}

// effective takes what alterWithout parsed out of a statement.
func (p *parser) effective(a *ast.AlterTable) ast.Stmt {
	kept := a.Actions[:0]
	for _, x := range a.Actions {
		switch x.Op {
		case "index":
			a.Indexed = true
		case "option":
		default:
			kept = append(kept, x)
		}
	}
	if a.Actions = kept; len(kept) > 0 {
		return a
	}
	return &ast.CreateIndex{Table: a.Name.Name, Verb: "ALTER TABLE", Quiet: !a.Indexed, Pos: a.Pos}
}
