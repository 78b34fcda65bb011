package engine

import (
	"context"
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// preparedSQL is a statement with a name, of SQL PREPARE or of the wire's protocol: both share
// the names, so that DEALLOCATE and EXECUTE find what the protocol prepared and the other way.
type preparedSQL struct {
	stmt    *Stmt
	text    string
	at      time.Time
	fromSQL bool
	held    int64 // of the session's memory
}

// Prepared finds a named statement and its text; nil if there is none.
func (s *Session) Prepared(name string) (*Stmt, string) {
	if p := s.prepared[name]; p != nil {
		return p.stmt, p.text
	}
	return nil, ""
}

// KeepPrepared names a statement that the wire's protocol prepared; it fails with 53200 where
// the server has no memory for it.
func (s *Session) KeepPrepared(name, text string, st *Stmt) error {
	held := StatementCost(text)
	if err := s.Hold(held); err != nil {
		return err
	}
	if passwordIn(st.parsed.Stmt) {
		text = hiddenText
	}
	s.prepared[name] = &preparedSQL{stmt: st, text: text, at: time.Now(), held: held}
	return nil
}

// ForgetPrepared is the protocol's DEALLOCATE: no error when there is none.
func (s *Session) ForgetPrepared(name string) {
	if p := s.prepared[name]; p != nil {
		s.Drop(p.held)
		delete(s.prepared, name)
	}
}

// forgetAllPrepared drops every prepared statement.
func (s *Session) forgetAllPrepared() {
	for name := range s.prepared {
		s.ForgetPrepared(name)
	}
}

func (s *Session) preparedSQL(name string) (*preparedSQL, error) {
	p := s.prepared[name]
	if p == nil {
		return nil, sqlerr.New(sqlerr.InvalidStatementName, "prepared statement %q does not exist", name)
	}
	return p, nil
}

func (s *Session) prepareSQL(ctx context.Context, n *ast.Prepare) error {
	if s.prepared[n.Name] != nil {
		return sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement %q already exists", n.Name)
	}
	text := s.activity.query
	env := s.bindEnv(ctx, nil)
	given := make([]types.Type, len(n.Types))
	for i := range n.Types {
		var err error
		if given[i], err = bind.TypeOf(env, &n.Types[i]); err != nil {
			return err
		}
	}
	st, err := s.prepare(ctx, Parsed{Stmt: n.Stmt, Text: text, NumParams: n.NumParams}, given)
	if err != nil {
		return err
	}
	held := StatementCost(text)
	if err := s.Hold(held); err != nil {
		return err
	}
	s.prepared[n.Name] = &preparedSQL{stmt: st, text: text, at: time.Now(), fromSQL: true, held: held}
	return nil
}

func (s *Session) executeSQL(ctx context.Context, n *ast.Execute, b *bind.Bound, r *Result) error {
	p, err := s.preparedSQL(n.Name)
	if err != nil {
		return err
	}
	if len(b.Args) != len(p.stmt.params) {
		return sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters for prepared statement %q", n.Name).
			WithDetail("Expected %d parameters but got %d.", len(p.stmt.params), len(b.Args))
	}
	args := make([]types.Datum, len(b.Args))
	c := s.evalCtx(ctx)
	for i, a := range b.Args {
		// A string without a type is read as the parameter's.
		if l, ok := n.Args[i].(*ast.Lit); ok && l.Kind == 's' && a.Value.Form() == types.FormStr {
			if args[i], err = types.Parse(a.Value.Str(), p.stmt.params[i], s.TextOptions()); err != nil {
				return err
			}
			continue
		}
		x := &plan.Cast{X: &plan.Const{Value: a.Value, Typ: a.Typ}, Typ: p.stmt.params[i], Context: plan.Assignment, Pos: a.Pos}
		if args[i], err = eval.EvalConst(c, x); err != nil {
			return err
		}
	}
	if err := p.stmt.rebind(ctx, args); err != nil {
		return err
	}
	r.columns = p.stmt.columns
	return s.dispatch(ctx, p.stmt, args, nil, r)
}

func (s *Session) deallocate(n *ast.Deallocate) (string, error) {
	if n.Name == "" {
		s.forgetAllPrepared()
		return "DEALLOCATE ALL", nil
	}
	if _, err := s.preparedSQL(n.Name); err != nil {
		return "", err
	}
	s.ForgetPrepared(n.Name)
	return "DEALLOCATE", nil
}

// setStatement runs SET, RESET and their kin.
func (s *Session) setStatement(n *ast.Set, r *Result) (string, error) {
	tag := "SET"
	if n.All {
		s.settings.resetAll()
		return "RESET", nil
	}
	if n.Local && !s.tx.block {
		r.warn(sqlerr.NoActiveTransaction, "SET LOCAL can only be used in transaction blocks")
	}
	if n.Name == "transaction" || n.Name == "session characteristics" {
		return tag, s.setCharacteristics(n, r)
	}
	if n.Default {
		if n.Reset {
			tag = "RESET"
		}
		return tag, s.settings.set(n.Name, nil, n.Local, s.tx.block)
	}
	words := make([]string, len(n.Values))
	for i, e := range n.Values {
		w, err := settingWord(e)
		if err != nil {
			return "", err
		}
		words[i] = w
	}
	v := strings.Join(words, ", ")
	if strings.EqualFold(n.Name, "spark.sql.session.timezone") {
		v = sparkZone(v)
	}
	if canonicalSetting(n.Name) == "search_path" {
		v = quotePath(words)
	}
	if mode, ok := transactionMode(n.Name); ok {
		return tag, s.setMode(mode, v)
	}
	if err := s.settings.set(n.Name, &v, n.Local, s.tx.block); err != nil {
		if e, ok := sqlerr.As(err); ok && e.Pos < 0 && e.Code != "55P02" {
			return "", err
		}
		return "", err
	}
	return tag, nil
}

// sparkZone spells a zone by its displacement, which Spark counts east of Greenwich, as TimeZone
// takes it.
func sparkZone(v string) string {
	off := v
	for _, p := range []string{"GMT", "UTC", "UT"} {
		if rest, ok := strings.CutPrefix(v, p); ok {
			off = rest
			break
		}
	}
	if len(off) < 2 || off[0] != '+' && off[0] != '-' {
		return v
	}
	if len(off) < 4 {
		off += ":00"
	}
	return "INTERVAL '" + off + "'"
}

// quotePath keeps the elements of SET search_path apart when they need quotes.
func quotePath(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w != strings.ToLower(w) || strings.ContainsAny(w, `$ ",`) || w == "" {
			out[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
		}
	}
	if len(words) == 1 && strings.Contains(words[0], ",") {
		return words[0] // set_config style: a whole list in one string
	}
	return strings.Join(out, ", ")
}

// settingWord is a value in SET: a word, a string, a signed number.
func settingWord(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.Lit:
		return e.Text, nil
	case *ast.Ident:
		return strings.Join(e.Parts, "."), nil
	case *ast.Unary:
		w, err := settingWord(e.X)
		return e.Op + w, err
	case *ast.Cast:
		w, err := settingWord(e.X)
		if err != nil || e.Type.Name != "interval" {
			return w, err
		}
		iv, err := types.ParseIntervalFields(w, e.Type.Fields, nil) // SET TIME ZONE INTERVAL …
		return "INTERVAL '" + string(types.AppendInterval(nil, iv, nil)) + "'", err
	}
	return "", sqlerr.New(sqlerr.SyntaxError, "SET takes constants only").At(e.Position())
}

// showColumns are SHOW's: one named like the setting, or three for ALL.
func (s *Session) showColumns(n *ast.Show) []ResultColumn {
	text := types.T(types.Text)
	if n.Name == "all" {
		return []ResultColumn{{Name: "name", Type: text}, {Name: "setting", Type: text}, {Name: "description", Type: text}}
	}
	name := n.Name
	if d := settingIndex[canonicalSetting(n.Name)]; d != nil {
		name = d.name
	}
	return []ResultColumn{{Name: name, Type: text}}
}

func (s *Session) show(n *ast.Show, r *Result) error {
	if n.Name == "all" {
		var rows [][]types.Datum
		for _, d := range s.settings.all() {
			rows = append(rows, []types.Datum{types.NewStr(d.name), types.NewStr(d.show(d.value)), types.NewStr(d.doc)})
		}
		r.src = rowsSource(r.columns, rows)
		return nil
	}
	v, ok := s.settings.get(n.Name)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", n.Name)
	}
	if d := settingIndex[canonicalSetting(n.Name)]; d != nil {
		v = d.show(v)
	}
	r.src = rowsSource(r.columns, [][]types.Datum{{types.NewStr(v)}})
	return nil
}

// discard runs DISCARD ALL, PLANS, SEQUENCES and TEMP.
func (s *Session) discard(n *ast.Discard) (string, error) {
	what := strings.ToUpper(n.What)
	if what == "ALL" {
		if s.tx.block {
			return "", inBlock("DISCARD ALL")
		}
		s.closeCursors(false)
		s.forgetAllPrepared()
		s.settings.resetAll()
		if err := s.settings.set("session_authorization", nil, false, false); err != nil {
			return "", err
		}
	}
	if what == "ALL" || strings.HasPrefix(what, "TEMP") {
		s.discardTemporary()
	}
	return "DISCARD " + what, nil
}
