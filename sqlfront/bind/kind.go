package bind

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// kind is the clause that an expression stands in (PostgreSQL's ParseExprKind): it decides
// which calls are allowed there and how messages name the place.
type kind uint8

const (
	inNothing kind = iota
	inSelect
	inWhere
	inHaving
	inFilter
	inGroupBy
	inOrderBy
	inDistinctOn
	inJoinOn
	inFromFunction
	inWindowPartition
	inWindowOrder
	inFrameRows
	inFrameRange
	inFrameGroups
	inLimit
	inOffset
	inValues
	inInsert // single-row VALUES of INSERT, DEFAULT
	inUpdate
	inReturning
	inMergeWhen
	inAsOf
	inConstant // arguments of procedures, properties
	inCheck
	inGenerated
)

var kindNames = [...]string{
	inNothing: "this place", inSelect: "SELECT", inWhere: "WHERE", inHaving: "HAVING", inFilter: "FILTER",
	inGroupBy: "GROUP BY", inOrderBy: "ORDER BY", inDistinctOn: "DISTINCT ON",
	inJoinOn: "JOIN conditions", inFromFunction: "functions in FROM", inWindowPartition: "PARTITION BY",
	inWindowOrder: "ORDER BY", inFrameRows: "window ROWS", inFrameRange: "window RANGE",
	inFrameGroups: "window GROUPS", inLimit: "LIMIT", inOffset: "OFFSET", inValues: "VALUES",
	inInsert: "VALUES", inUpdate: "UPDATE", inReturning: "RETURNING",
	inMergeWhen: "MERGE WHEN conditions", inAsOf: "a time-travel clause", inConstant: "this statement", inCheck: "check constraints",
	inGenerated: "column generation expressions",
}

func (k kind) String() string { return kindNames[k] }

func (k kind) allowsAggregates() bool {
	switch k {
	case inSelect, inHaving, inOrderBy, inDistinctOn, inWindowPartition, inWindowOrder:
		return true
	}
	return false
}

func (k kind) allowsWindows() bool {
	return k == inSelect || k == inOrderBy || k == inDistinctOn
}

func (k kind) allowsSets() bool {
	switch k {
	case inSelect, inOrderBy, inDistinctOn, inGroupBy:
		return true
	}
	return false
}

func (b *binder) refuseAggregate(k kind, pos int) {
	b.fail(sqlerr.GroupingError, pos, "aggregate functions are not allowed in %s", k)
}

func (b *binder) refuseWindow(k kind, pos int) {
	place := k.String()
	switch k {
	case inWindowPartition, inWindowOrder, inFrameRows, inFrameRange, inFrameGroups:
		place = "window definitions"
	}
	b.fail(sqlerr.WindowingError, pos, "window functions are not allowed in %s", place)
}

func (b *binder) refuseSet(place string, hint bool, pos int) {
	e := sqlerr.New(sqlerr.FeatureNotSupported, "set-returning functions are not allowed in %s", place).At(pos)
	if hint {
		e.WithHint("You might be able to move the set-returning function into a LATERAL FROM item.")
	}
	b.failWith(e)
}

// in binds f's expressions as standing in clause k of level lv.
func (lv *level) in(k kind, f func()) {
	old := lv.kind
	lv.kind = k
	f()
	lv.kind = old
}
