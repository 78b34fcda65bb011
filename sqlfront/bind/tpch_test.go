package bind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/pg"
)

const tpchTables = `
region r_regionkey:int r_name:string r_comment:string
nation n_nationkey:int n_name:string n_regionkey:int n_comment:string
supplier s_suppkey:long s_name:string s_address:string s_nationkey:int s_phone:string s_acctbal:decimal(15,2) s_comment:string
customer c_custkey:long c_name:string c_address:string c_nationkey:int c_phone:string c_acctbal:decimal(15,2) c_mktsegment:string c_comment:string
part p_partkey:long p_name:string p_mfgr:string p_brand:string p_type:string p_size:int p_container:string p_retailprice:decimal(15,2) p_comment:string
partsupp ps_partkey:long ps_suppkey:long ps_availqty:long ps_supplycost:decimal(15,2) ps_comment:string
orders o_orderkey:long o_custkey:long o_orderstatus:string o_totalprice:decimal(15,2) o_orderdate:date o_orderpriority:string o_clerk:string o_shippriority:int o_comment:string
lineitem l_orderkey:long l_partkey:long l_suppkey:long l_linenumber:long l_quantity:decimal(15,2) l_extendedprice:decimal(15,2) l_discount:decimal(15,2) l_tax:decimal(15,2) l_returnflag:string l_linestatus:string l_shipdate:date l_commitdate:date l_receiptdate:date l_shipinstruct:string l_shipmode:string l_comment:string
`

// TestTPCH: the 22 queries bind.
func TestTPCH(t *testing.T) {
	files, _ := filepath.Glob("../../bench/tpch/queries/*.sql")
	if len(files) == 0 {
		t.Skip("no queries")
	}
	env := newEnv(t)
	cat := &fakeCatalog{tables: map[string]*lake.Table{}}
	for _, line := range strings.Split(strings.TrimSpace(tpchTables), "\n") {
		words := strings.Fields(line)
		var fields []obj
		for i, w := range words[1:] {
			name, typ, _ := strings.Cut(w, ":")
			fields = append(fields, field(i+1, name, typ))
		}
		cat.tables[words[0]] = openTable(t, words[0], 2, fields...)
	}
	env.Catalog = cat
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := pg.Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		for _, p := range parsed {
			b, err := Bind(env, p, nil)
			if err != nil {
				t.Errorf("%s: %v", f, err)
				continue
			}
			if testing.Verbose() {
				t.Logf("%s\n%s", f, dump(b.Plan))
			}
		}
	}
}
