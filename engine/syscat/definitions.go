package syscat

import "strings"

// Quote spells an identifier as PostgreSQL's quote_ident does.
func Quote(id string) string {
	plain := id != ""
	for i := 0; i < len(id) && plain; i++ {
		c := id[i]
		plain = c == '_' || c >= 'a' && c <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '$')
	}
	if plain && !reserved[id] {
		return id
	}
	return `"` + strings.ReplaceAll(id, `"`, `""`) + `"`
}

// reserved are the key words that cannot be bare names (PostgreSQL manual, appendix C).
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`all analyse analyze and any array as asc asymmetric both case cast check collate
		column constraint create current_catalog current_date current_role current_time current_timestamp current_user
		default deferrable desc distinct do else end except false fetch for foreign from grant group having in initially
		intersect into lateral leading limit localtime localtimestamp not null offset on only or order placing primary
		references returning select session_user some symmetric table then to trailing true union unique user using
		variadic when where window with authorization binary collation concurrently cross current_schema freeze full
		ilike inner is isnull join left like natural notnull outer overlaps right similar tablesample verbose between
		bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int integer
		interval least national nchar none normalize nullif numeric out overlay position precision real row setof
		smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement`) {
		m[w] = true
	}
	return m
}()
