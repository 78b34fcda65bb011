-- rows
SELECT current_setting('server_version_num')::int/100 as version

-- rows
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'

-- rows
SELECT quote_ident(table_name) FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache') AND quote_ident(table_schema) IN (SELECT CASE WHEN TRIM(s[i]) = '"$user"' THEN user ELSE TRIM(s[i]) END FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1), array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i, string_to_array(current_setting('search_path'), ',') s) ORDER BY 1

-- rows
SELECT CASE WHEN quote_ident(table_schema) IN (SELECT CASE WHEN TRIM(s[i]) = '"$user"' THEN user ELSE TRIM(s[i]) END FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1), array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i, string_to_array(current_setting('search_path'), ',') s) THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table" FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') ORDER BY 1

-- rows
SELECT quote_ident(column_name) AS "column", data_type AS "type", udt_name FROM information_schema.columns WHERE CASE WHEN array_length(parse_ident('ns1.orders'), 1) = 2 THEN quote_ident(table_schema) = (parse_ident('ns1.orders'))[1] AND quote_ident(table_name) = (parse_ident('ns1.orders'))[2] ELSE quote_ident(table_name) = 'ns1.orders' AND quote_ident(table_schema) = 'public' END ORDER BY ordinal_position

-- rows
SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT LIKE 'pg_t%' ORDER BY 1

-- rows
SELECT floor(extract(epoch from placed)/86400)*86400 AS "time", region AS metric, avg(amount) AS "value" FROM ns1.orders WHERE placed >= '2024-01-01T00:00:00Z' AND placed <= '2024-01-15T00:00:00Z' GROUP BY 1, 2 ORDER BY 1, 2

-- rows
SELECT btrim('  x ')::text, '1.50'::numeric * 2, current_user <> '', 7::int8

-- rows
-- ping
