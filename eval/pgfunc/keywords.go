package pgfunc

import (
	"sort"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
)

// keywords are PostgreSQL 15's, by category and by whether they may label a column without AS.
var keywords = []struct {
	code  string
	bare  bool
	words string
}{
	{"C", false, `char character precision`},
	{"C", true, `between bigint bit boolean coalesce dec decimal exists extract float greatest grouping inout int
		integer interval least national nchar none normalize nullif numeric out overlay position real row
		setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement
		xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`},
	{"R", false, `array as create except fetch for from grant group having intersect into limit offset on order
		returning to union where window with`},
	{"R", true, `all analyse analyze and any asc asymmetric both case cast check collate column constraint
		current_catalog current_date current_role current_time current_timestamp current_user default
		deferrable desc distinct do else end false foreign in initially lateral leading localtime
		localtimestamp not null only or placing primary references select session_user some symmetric table
		then trailing true unique user using variadic when`},
	{"T", false, `isnull notnull overlaps`},
	{"T", true, `authorization binary collation concurrently cross current_schema freeze full ilike inner is join
		left like natural outer right similar tablesample verbose`},
	{"U", false, `day filter hour minute month over second varying within without year`},
	{"U", true, `abort absolute access action add admin after aggregate also alter always asensitive assertion
		assignment at atomic attach attribute backward before begin breadth by cache call called cascade
		cascaded catalog chain characteristics checkpoint class close cluster columns comment comments
		commit committed compression configuration conflict connection constraints content continue
		conversion copy cost csv cube current cursor cycle data database deallocate declare defaults
		deferred definer delete delimiter delimiters depends depth detach dictionary disable discard
		document domain double drop each enable encoding encrypted enum escape event exclude excluding
		exclusive execute explain expression extension external family finalize first following force
		forward function functions generated global granted groups handler header hold identity if immediate
		immutable implicit import include including increment index indexes inherit inherits inline input
		insensitive insert instead invoker isolation key label language large last leakproof level listen
		load local location lock locked logged mapping match matched materialized maxvalue merge method
		minvalue mode move name names new next nfc nfd nfkc nfkd no normalized nothing notify nowait nulls
		object of off oids old operator option options ordinality others overriding owned owner parallel
		parameter parser partial partition passing password plans policy preceding prepare prepared preserve
		prior privileges procedural procedure procedures program publication quote range read reassign
		recheck recursive ref referencing refresh reindex relative release rename repeatable replace replica
		reset restart restrict return returns revoke role rollback rollup routine routines rows rule
		savepoint schema schemas scroll search security sequence sequences serializable server session set
		sets share show simple skip snapshot sql stable standalone start statement statistics stdin stdout
		storage stored strict strip subscription support sysid system tables tablespace temp template
		temporary text ties transaction transform trigger truncate trusted type types uescape unbounded
		uncommitted unencrypted unknown unlisten unlogged until update vacuum valid validate validator value
		version view views volatile whitespace work wrapper write xml yes zone`},
}

var keywordRow = types.RecordOf(
	types.Field{Name: "word", Type: eval.TText}, types.Field{Name: "catcode", Type: eval.TChar},
	types.Field{Name: "barelabel", Type: eval.TBool}, types.Field{Name: "catdesc", Type: eval.TText},
	types.Field{Name: "baredesc", Type: eval.TText})

func registerKeywords() {
	eval.Register(eval.Stable("pg_get_keywords", nil, keywordRow, eval.SetKernel(getKeywords)))
}

func getKeywords(_ *eval.Ctx, _ []types.Datum, yield func(types.Datum) error) error {
	describe := map[string]string{"U": "unreserved", "C": "unreserved (cannot be function or type name)",
		"T": "reserved (can be function or type name)", "R": "reserved"}
	var rows [][]types.Datum
	for _, k := range keywords {
		label := "requires AS"
		if k.bare {
			label = "can be bare label"
		}
		for _, w := range strings.Fields(k.words) {
			rows = append(rows, []types.Datum{types.NewStr(w), types.NewStr(k.code), types.NewBool(k.bare),
				types.NewStr(describe[k.code]), types.NewStr(label)})
		}
	}
	sort.Slice(rows, func(a, b int) bool { return rows[a][0].Str() < rows[b][0].Str() })
	for _, r := range rows {
		if err := yield(types.NewStruct(r)); err != nil {
			return err
		}
	}
	return nil
}
