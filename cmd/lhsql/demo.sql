-- The demo's history. A line "-- at TIME" sets the clock for the statements below it, so that
-- the lakehouse has months of snapshots. All data is invented, and the same on every run.

-- at 2026-03-02T06:00:00Z
CREATE SCHEMA bronze;
CREATE SCHEMA silver;
CREATE SCHEMA gold;

CREATE TABLE bronze.order_events (
	event_id bigint NOT NULL,
	event_time timestamptz NOT NULL,
	event_type text NOT NULL,
	order_id bigint NOT NULL,
	order_item_id bigint NOT NULL,
	customer_id bigint,
	sku text,
	region text,
	quantity int,
	unit_price numeric(12,2),
	currency text,
	context struct<channel: text, device: text>,
	labels list<text>
) PARTITIONED BY (day(event_time))
COMMENT 'Source evidence as it came, never changed';

CREATE TABLE silver.order_item (
	order_item_id bigint NOT NULL,
	order_id bigint NOT NULL,
	order_time timestamptz NOT NULL,
	customer_token text,
	sku text NOT NULL,
	region text NOT NULL,
	quantity int NOT NULL,
	unit_price numeric(12,2) NOT NULL,
	amount numeric(14,2) NOT NULL,
	currency text NOT NULL,
	status text NOT NULL,
	source_version bigint NOT NULL,
	PRIMARY KEY (order_item_id)
) PARTITIONED BY (month(order_time))
COMMENT 'One row an accepted order item, in its current conformed state';
ALTER TABLE silver.order_item SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read');
ALTER TABLE silver.order_item WRITE ORDERED BY order_id, order_item_id;
COMMENT ON COLUMN silver.order_item.customer_token IS 'Keyed hash of the customer id';
COMMENT ON COLUMN silver.order_item.source_version IS 'Sequence number of the event that the row stands for';

CREATE TABLE gold.finance_order_ledger (
	entry_id bigint NOT NULL,
	order_item_id bigint NOT NULL,
	entry_type text NOT NULL,
	booked_on date NOT NULL,
	region text NOT NULL,
	amount numeric(14,2) NOT NULL,
	currency text NOT NULL,
	transaction_ref text NOT NULL,
	PRIMARY KEY (entry_id)
) PARTITIONED BY (month(booked_on))
COMMENT 'One entry an order item, payment, fee or refund; certified at T+1';

-- each 2026-03 2026-08
-- Six months: events arrive, silver merges them, gold books them.
-- at {month}-28T23:00:00Z
INSERT INTO bronze.order_events
SELECT {first} + i, TIMESTAMPTZ '{month}-01 00:00:00+00' + (i * 7919 % 2332800) * INTERVAL '1 second',
	'accepted', {first} / 2 + i / 2, {first} + i, 1 + i * 31 % 500, 'SKU-' || lpad((i * 17 % 60)::text, 3, '0'),
	(ARRAY['EU', 'US', 'APAC'])[1 + i * 7 % 3], 1 + i % 4, (5 + i * 37 % 195) + 0.99,
	(ARRAY['EUR', 'USD', 'JPY'])[1 + i * 7 % 3],
	ROW((ARRAY['web', 'app', 'store'])[1 + i % 3], (ARRAY['phone', 'desktop'])[1 + i % 2]),
	CASE WHEN i % 5 = 0 THEN ARRAY['gift', 'express'] WHEN i % 3 = 0 THEN ARRAY['express'] END
FROM generate_series(0, {rows} - 1) AS g(i);

-- at {month}-28T23:45:00Z
MERGE INTO silver.order_item t
USING (
	SELECT DISTINCT ON (order_item_id) order_item_id, order_id, event_id, event_type, customer_id, sku, region, quantity, unit_price, currency,
		min(event_time) OVER (PARTITION BY order_item_id) AS order_time
	FROM bronze.order_events
	ORDER BY order_item_id, event_id DESC) s
ON t.order_item_id = s.order_item_id
WHEN MATCHED AND s.event_id > t.source_version THEN UPDATE SET status = s.event_type, source_version = s.event_id
WHEN NOT MATCHED THEN INSERT (order_item_id, order_id, order_time, customer_token, sku, region, quantity, unit_price, amount, currency, status, source_version)
	VALUES (s.order_item_id, s.order_id, s.order_time, left(md5('demo-' || s.customer_id), 12), s.sku, s.region, s.quantity,
		s.unit_price, s.quantity * s.unit_price, s.currency, s.event_type, s.event_id);

-- at {next}-01T02:00:00Z
INSERT INTO gold.finance_order_ledger
SELECT order_item_id * 4 + k, order_item_id, (ARRAY['order_item', 'payment', 'fee', 'refund'])[k + 1],
	(order_time AT TIME ZONE 'UTC')::date, region,
	CASE k WHEN 0 THEN amount WHEN 1 THEN -amount WHEN 2 THEN -round(amount * 0.029, 2) ELSE amount END,
	currency, 'TX-' || left(md5(order_item_id || '/' || k), 10)
FROM silver.order_item CROSS JOIN generate_series(0, 3) AS g(k)
WHERE order_time >= TIMESTAMPTZ '{month}-01 00:00:00+00' AND order_time < TIMESTAMPTZ '{next}-01 00:00:00+00'
	AND (k < 3 AND status <> 'cancelled' OR k = 3 AND status = 'returned');

-- What happens to the items becomes known weeks later, and the next month's MERGE applies it.
-- at {next}-10T12:30:00Z
INSERT INTO bronze.order_events
SELECT {first} + {rows} + row_number() OVER (ORDER BY order_item_id), TIMESTAMPTZ '{next}-09 12:00:00+00',
	CASE order_item_id % 11 WHEN 0 THEN 'returned' WHEN 1 THEN 'cancelled' ELSE 'shipped' END,
	order_id, order_item_id, customer_id, sku, region, quantity, unit_price, currency, context, NULL
FROM bronze.order_events WHERE event_type = 'accepted' AND event_time < TIMESTAMPTZ '{month}-20 00:00:00+00'
	AND event_time >= TIMESTAMPTZ '{month}-01 00:00:00+00';

-- after 2026-04
-- The source learns about channels: the schema changes, old rows have none.
-- at 2026-05-13T09:00:00Z
ALTER TABLE silver.order_item ADD COLUMN channel text AFTER region;
-- at 2026-05-13T09:10:00Z
UPDATE silver.order_item t SET channel = (e.context).channel FROM bronze.order_events e
WHERE e.order_item_id = t.order_item_id AND e.event_type = 'accepted' AND t.order_time >= TIMESTAMPTZ '2026-04-01 00:00:00+00';

-- after 2026-05
-- Regions are asked for alone more and more: the partitioning changes, old files stay as they are.
-- at 2026-06-12T08:00:00Z
ALTER TABLE silver.order_item ADD PARTITION FIELD region;

-- after 2026-06
-- The second quarter is closed: a tag keeps what was reported.
-- at 2026-07-11T06:00:00Z
ALTER TABLE gold.finance_order_ledger CREATE TAG q2_close RETAIN 3650 DAYS;

-- after 2026-08
-- A customer asks to be forgotten.
-- at 2026-09-11T10:00:00Z
DELETE FROM silver.order_item WHERE customer_token = left(md5('demo-' || 42), 12);

-- A correction is tried on a branch, which readers of main do not see.
-- at 2026-09-12T07:00:00Z
ALTER TABLE silver.order_item CREATE BRANCH repricing;
-- at 2026-09-12T07:05:00Z
UPDATE silver.order_item.branch_repricing SET unit_price = unit_price - 1, amount = quantity * (unit_price - 1)
WHERE sku = 'SKU-007' AND order_time >= TIMESTAMPTZ '2026-08-01 00:00:00+00';
-- at 2026-09-12T08:00:00Z
CREATE VIEW gold.revenue_by_month AS
SELECT date_trunc('month', order_time) AS month, region, currency, sum(amount) AS revenue, count(*) AS items
FROM silver.order_item WHERE status <> 'cancelled' GROUP BY 1, 2, 3;
