-- run
SET TIME ZONE 'America/Los_Angeles'

-- rows
SELECT DATE(orders.placed AT TIME ZONE 'UTC' AT TIME ZONE 'America/Los_Angeles') AS "orders.placed_date", COALESCE(SUM(orders.amount), 0) AS "orders.total" FROM ns1.orders AS orders WHERE orders.placed >= (DATE_TRUNC('day', TIMESTAMP '2024-02-01') + (-6 || ' day')::INTERVAL) AND orders.placed < TIMESTAMP '2024-03-01' GROUP BY (DATE(orders.placed AT TIME ZONE 'UTC' AT TIME ZONE 'America/Los_Angeles')) ORDER BY 1 DESC FETCH NEXT 50 ROWS ONLY

-- rows
SELECT * FROM (SELECT *, DENSE_RANK() OVER (ORDER BY z___min_rank) AS z___pivot_row_rank, RANK() OVER (PARTITION BY "r" ORDER BY z___min_rank) AS rnk FROM (SELECT *, MIN("c") OVER (PARTITION BY "r") AS z___min_rank FROM (SELECT region AS "r", DATE_TRUNC('month', placed) AS "m", COUNT(*)::int8 AS "c", AVG(amount)::float8 > 0 AS pos FROM ns1.orders GROUP BY 1, 2) ww) bb) xx WHERE xx.z___pivot_row_rank <= 16384 AND "c" <> 0 ORDER BY "r", "m"

-- rows
SELECT column_name, data_type, ordinal_position FROM information_schema.columns WHERE table_schema = 'ns1' AND table_name = 'orders' ORDER BY ordinal_position

-- rows
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%no such looker id%' AND query NOT LIKE '%pg_stat_activity%'

-- rows
SELECT timezone('UTC', placed) < timezone('Asia/Tokyo', placed), current_timestamp = now(), order_id + 1 FROM ns1.orders WHERE order_id = 7

-- run
CREATE SCHEMA looker_scratch

-- run
CREATE TABLE looker_scratch.LR$test AS SELECT region, count(*) AS n FROM ns1.orders GROUP BY 1

-- rows
SELECT * FROM looker_scratch.LR$test ORDER BY 1

-- run
ALTER TABLE looker_scratch.LR$test RENAME TO LR$done

-- rows
SELECT sum(n) FROM looker_scratch.LR$done

-- run
DROP TABLE IF EXISTS looker_scratch.LR$done

-- run
DROP SCHEMA looker_scratch
