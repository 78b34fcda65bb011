package engine

import (
	"regexp"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// Passwords stand in statements and shall stand nowhere else: not in pg_stat_activity, in lists of
// prepared statements and cursors, in caches and in histories.

var passwordWord = regexp.MustCompile(`(?i)\b(password|identified)\b`)

// HoldsPassword tells whether a text may hold a password: it is cautious, and says so of some that hold
// none.
func HoldsPassword(text string) bool { return passwordWord.MatchString(text) }

// passwordIn tells whether a statement is one that may give a password.
func passwordIn(st ast.Stmt) bool {
	switch n := st.(type) {
	case *ast.CreateRole:
		for ; n != nil; n = n.Next {
			if n.Options.Password != nil {
				return true
			}
		}
	case *ast.AlterRole:
		return n.Options.Password != nil
	}
	return false
}

// hiddenText stands for a text with a password.
const hiddenText = "<a statement with a password>"

// shownText is a statement's text as it may be shown.
func shownText(p Parsed) string {
	hold := passwordIn(p.Stmt)
	switch p.Stmt.(type) {
	case *ast.PrepareText, *ast.SetVariables, *ast.Do: // a text in them may become a statement
		hold = HoldsPassword(p.Text)
	}
	if hold {
		return hiddenText
	}
	return p.Text
}

// passwordsIn tells whether one of several statements gives a password.
func passwordsIn(list []Parsed) bool {
	for _, p := range list {
		if shownText(p) == hiddenText {
			return true
		}
	}
	return false
}
