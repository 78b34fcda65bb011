"""Which of the suite's topics are asked, and what of them lies outside of what lhsql is."""
import re

# In the order of the suite's own schedule: later topics read what earlier ones have made.
QUERIES = """
boolean char name varchar text int2 int4 int8 oid float4 float8 bit numeric uuid enum
strings numerology date time timetz timestamp timestamptz interval horology regex expressions unicode
copyselect copydml insert insert_conflict create_misc create_view select errors
select_into select_distinct select_distinct_on select_implicit select_having subselect union case join aggregates
transactions portals arrays update delete namespace tablesample groupingsets identity generated join_hash
create_table_like merge misc_functions tsrf tid tidscan tidrangescan incremental_sort
select_views portals_p2 window functional_deps
json jsonb json_encoding jsonpath jsonpath_encoding jsonb_jsonpath
plancache temp domain rangefuncs prepare conversion truncate sequence polymorphism rowtypes returning with
""".split()

# What stands in none of the sums, with the reason that the table prints.
OUTSIDE = [
    ("geometry, ranges, text search, XML and network addresses are no types of Iceberg's",
     r"\b(point|lseg|box|path|polygon|circle|line)\s*('|\()|::\s*(point|lseg|box|path|polygon|circle|line|tsvector|tsquery|xml|money|inet|cidr|macaddr8?)\b|"
     r"\b(int4|int8|num|date|ts|tstz)(multi)?range\b|to_ts(vector|query)\b|\bts_(headline|rank)|\bxml\w+\s*\(|\b(point_tbl|polygon_tbl|fast_emp4000|road|ihighway|shighway|slow_emp4000|box_tbl)\b"
     r"|\b(tsvector|tsquery|anyrange|anymultirange|anycompatiblerange|anycompatiblemultirange)\b|\b(cidr|inet|point|box|polygon|circle)\b(?=\s*[,)\[])"),
    ("triggers, rules, procedures and functions in other languages than SQL",
     r"\bcreate\s+(or\s+replace\s+)?(constraint\s+)?trigger\b|\bcreate\s+(or\s+replace\s+)?rule\b|\blanguage\s+'?(plpgsql|c|internal)\b|^\s*do\s+(\$|')|^\s*(create\s+(or\s+replace\s+)?procedure|call)\b|\balter\s+table\s+\S+\s+(enable|disable)\b|\bevent\s+trigger\b"),
    ("operators, casts, aggregates, collations and types of one's own", r"^\s*(create|alter|drop)\s+(or\s+replace\s+)?(operator|cast|aggregate|conversion|language|access\s+method|type|collation|extension|publication|text\s+search)\b"),
    ("inheritance, partitions by PostgreSQL's rules, storage parameters",
     r"\binherits\s*\(|\bpartition\s+(of|by\s+(range|list|hash))\b|\b(attach|detach)\s+partition\b|\bno\s+inherit\b|\binherit\s+\w+|\bset\s+storage\b"),
    ("plans: EXPLAIN, statistics, planner settings", r"^\s*explain\b|\bexplain_\w+\s*\(|^\s*(create|drop|alter)\s+statistics\b|\bpg_stat\w*\b"),
    ("a view's text is kept as it was written", r"\bpg_get_(viewdef|ruledef|functiondef|statisticsobjdef)\b"),
    ("which rows a sample takes is the server's own", r"\btablesample(_cur)?\b(?=.*\brepeatable\b)|\btablesample_cur\b"),
    ("row security, roles, ownership", r"^\s*(create|alter|drop)\s+(policy|role|user|group)\b|\brow\s+level\s+security\b|\bowner\s+to\b|^\s*(grant|revoke)\b|\bsession\s+authorization\b|^\s*set\s+role\b"),
    ("the server's own files, encodings and internals",
     r"\bpg_(ls_\w+|read_\w+|stat_file|relation_\w+|log_\w+|current_logfile|backend_\w+|column_compression|column_size|control_\w+|walfile\w*|filenode\w*|input_error\w*|lsn|nextoid)\b|\btest_\w+\s*\(|\b(lo_\w+|pg_largeobject)\b|\btableoid\b|\b(cmin|cmax)\b|\btxid_\w+|^\s*(lock|cluster|reindex|listen|notify|unlisten)\b"),
]
OUTSIDE = [(why, re.compile(p, re.I | re.S)) for why, p in OUTSIDE]

# A query or a write, the first sum; the rest is DDL and the session's, the second.
QUERY = re.compile(r"(?is)^[\s(]*(select|values|table|with|insert|update|delete|merge|execute|fetch|declare|copy)\b")


def outside(sql):
    """Why a statement stands in no sum, or None."""
    for why, p in OUTSIDE:
        if p.search(sql):
            return why
    return None
