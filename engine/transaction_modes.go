package engine

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// A transaction's modes are settings that end with it: transaction_isolation, transaction_read_only
// and transaction_deferrable, with what the next one begins with under default_… names. Isolation
// levels below serializable are accepted, as stricter ones keep what they promise; deferrable means
// nothing where nobody waits.

// modes are what COMMIT AND CHAIN hands on.
func (s *Session) modes() *ast.Transaction {
	isolation, _ := s.settings.get("transaction_isolation")
	ro, def := s.settings.bool("transaction_read_only"), s.settings.bool("transaction_deferrable")
	return &ast.Transaction{Isolation: isolation, ReadOnly: &ro, Deferrable: &def}
}

// setModes gives the block that begins the modes that it was asked for.
func (s *Session) setModes(t *ast.Transaction) {
	set := func(name, value string) { s.settings.set("transaction_"+name, &value, true, true) }
	onOff := func(asked *bool, name string) string {
		if asked == nil {
			v, _ := s.settings.get("default_transaction_" + name)
			return v
		}
		return map[bool]string{true: "on", false: "off"}[*asked]
	}
	isolation := strings.ToLower(t.Isolation)
	if isolation == "" {
		isolation, _ = s.settings.get("default_transaction_isolation")
	}
	set("isolation", isolation)
	set("read_only", onOff(t.ReadOnly, "read_only"))
	set("deferrable", onOff(t.Deferrable, "deferrable"))
}

// changeModes gives the block that is open the modes of a second BEGIN.
func (s *Session) changeModes(t *ast.Transaction) error {
	if t.Isolation != "" {
		if err := s.setMode("isolation", t.Isolation); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		mode string
		on   *bool
	}{{"read_only", t.ReadOnly}, {"deferrable", t.Deferrable}} {
		if m.on != nil {
			if err := s.setMode(m.mode, map[bool]string{true: "on", false: "off"}[*m.on]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readOnly tells whether what runs now may only read.
func (s *Session) readOnly() bool {
	if s.tx.block {
		return s.settings.bool("transaction_read_only")
	}
	return s.settings.bool("default_transaction_read_only")
}

// noteQuery remembers that the block has run something that sees data: its modes are fixed then.
func (s *Session) noteQuery(st ast.Stmt) {
	switch st.(type) {
	case *ast.Transaction, *ast.Set, *ast.Show, *ast.Empty, *ast.Deallocate, *ast.Discard, *ast.Listen, *ast.Noop,
		*ast.Lock, *ast.ClosePortal, *ast.Prepare, *ast.SetVariables, *ast.SetTransaction, *ast.Use, *ast.Idle:
	default:
		s.tx.queried = s.tx.block
	}
}

// transactionMode is the part of a setting's name behind transaction_, where it is a mode.
func transactionMode(name string) (mode string, ok bool) {
	mode, ok = strings.CutPrefix(canonicalSetting(name), "transaction_")
	return mode, ok && (mode == "isolation" || mode == "read_only" || mode == "deferrable")
}

// setMode changes a mode of the block that is open. Outside one it would be that of the statement
// alone.
func (s *Session) setMode(mode, value string) error {
	if _, err := checkSetting("transaction_"+mode, value); err != nil || !s.tx.block {
		return err
	}
	now, _ := s.settings.get("transaction_" + mode)
	canon, _ := checkSetting("transaction_"+mode, value)
	active := func(text string) error { return sqlerr.New(sqlerr.ActiveTransaction, "%s", text) }
	switch within := len(s.tx.savepoints) > 0; {
	case canon == now:
	case mode == "read_only" && canon == "off" && within:
		return active("cannot set transaction read-write mode inside a read-only transaction")
	case mode == "read_only" && canon == "off" && s.tx.queried:
		return active("transaction read-write mode must be set before any query")
	case mode == "isolation" && s.tx.queried:
		return active("SET TRANSACTION ISOLATION LEVEL must be called before any query")
	case mode == "isolation" && within:
		return active("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
	case mode == "deferrable" && within:
		return active("SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction")
	case mode == "deferrable" && s.tx.queried:
		return active("SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
	}
	return s.settings.set("transaction_"+mode, &value, true, true)
}

// setCharacteristics is SET TRANSACTION and SET SESSION CHARACTERISTICS AS TRANSACTION: n's values
// are names and values in turn.
func (s *Session) setCharacteristics(n *ast.Set, r *Result) error {
	if n.Name == "transaction" && !s.tx.block {
		r.warn(sqlerr.NoActiveTransaction, "SET TRANSACTION can only be used in transaction blocks")
	}
	for i := 0; i+1 < len(n.Values); i += 2 {
		name, err := settingWord(n.Values[i])
		if err != nil {
			return err
		}
		value, err := settingWord(n.Values[i+1])
		if err != nil {
			return err
		}
		if n.Name == "transaction" {
			mode, _ := transactionMode(name)
			err = s.setMode(mode, value)
		} else {
			err = s.settings.set("default_"+name, &value, false, s.tx.block)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
