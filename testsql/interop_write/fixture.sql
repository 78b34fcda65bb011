CREATE SCHEMA w;
SET search_path = w;
SET TimeZone = 'UTC';

-- Every type, the edges of each, in both formats.
CREATE TABLE types_v2 (id int NOT NULL, b boolean, i int, l bigint, f real, d double precision, n numeric(9,2), w numeric(38,3),
  dt date, tm time, ts timestamp, tz timestamptz, s text, u uuid, bi bytea, li int[]) TBLPROPERTIES ('format-version' = '2');
INSERT INTO types_v2 VALUES
  (1, true, -7, -9000000000, -0.5, 1.25, -10.65, -0.042, '1969-12-31', '01:00:00', '1969-12-31 23:59:59.999999', '1970-01-02 00:00:00+00', 'añb', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', '\x00010203', ARRAY[1, NULL, 3]),
  (2, false, 2147483647, 9223372036854775807, 3.4e38, 1.7e308, 9999999.99, 12345678901234567890123456789012345.678, '2999-12-31', '23:59:59.999999', '2999-12-31 00:00:00', '2026-07-01 12:00:00+02', '', '00000000-0000-0000-0000-000000000000', '', '{}'),
  (3, NULL, -2147483648, -9223372036854775808, 0, -1e-300, -9999999.99, 0, '0001-01-01', '00:00:00', '0001-01-01 00:00:00', '1900-01-01 00:00:00+00', repeat('long', 30), 'ffffffff-ffff-ffff-ffff-ffffffffffff', '\xff', NULL);
INSERT INTO types_v2 (id) VALUES (4);
CREATE TABLE types_v3 TBLPROPERTIES ('format-version' = '3') AS SELECT * FROM types_v2;
CREATE TABLE types_spark TBLPROPERTIES ('format-version' = '3') AS SELECT id, b, i, l, f, d, n, w, dt, ts, tz, s, u, bi, li FROM types_v2;

-- Rows rewritten and deleted, in each shape, with partitions.
CREATE TABLE cow_v2 (id int, grp text, ts timestamp, n numeric(9,2)) PARTITIONED BY (grp, month(ts), bucket(4, id)) TBLPROPERTIES ('format-version' = '2');
INSERT INTO cow_v2 SELECT g, 'g' || g % 3, timestamp '2026-01-01' + g * interval '7 hours', g::numeric / 4 FROM generate_series(1, 300) g;
CREATE TABLE mor_v2 (id int, grp text, ts timestamp, n numeric(9,2)) PARTITIONED BY (grp, month(ts), bucket(4, id)) TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read');
INSERT INTO mor_v2 SELECT * FROM cow_v2;
CREATE TABLE cow_v3 (id int, grp text, ts timestamp, n numeric(9,2)) PARTITIONED BY (grp, month(ts), bucket(4, id)) TBLPROPERTIES ('format-version' = '3');
INSERT INTO cow_v3 SELECT * FROM cow_v2;
CREATE TABLE mor_v3 (id int, grp text, ts timestamp, n numeric(9,2)) PARTITIONED BY (grp, month(ts), bucket(4, id)) TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read');
INSERT INTO mor_v3 SELECT * FROM cow_v2;
DELETE FROM cow_v2 WHERE id % 7 = 0; DELETE FROM mor_v2 WHERE id % 7 = 0; DELETE FROM cow_v3 WHERE id % 7 = 0; DELETE FROM mor_v3 WHERE id % 7 = 0;
UPDATE cow_v2 SET grp = 'up', n = n + 1 WHERE id % 11 = 0; UPDATE mor_v2 SET grp = 'up', n = n + 1 WHERE id % 11 = 0; UPDATE cow_v3 SET grp = 'up', n = n + 1 WHERE id % 11 = 0; UPDATE mor_v3 SET grp = 'up', n = n + 1 WHERE id % 11 = 0;
MERGE INTO cow_v2 t USING (SELECT g AS id, 'm' AS grp FROM generate_series(280, 320) g) u ON t.id = u.id WHEN MATCHED AND t.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET grp = u.grp WHEN NOT MATCHED THEN INSERT (id, grp) VALUES (u.id, u.grp);
MERGE INTO mor_v2 t USING (SELECT g AS id, 'm' AS grp FROM generate_series(280, 320) g) u ON t.id = u.id WHEN MATCHED AND t.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET grp = u.grp WHEN NOT MATCHED THEN INSERT (id, grp) VALUES (u.id, u.grp);
MERGE INTO cow_v3 t USING (SELECT g AS id, 'm' AS grp FROM generate_series(280, 320) g) u ON t.id = u.id WHEN MATCHED AND t.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET grp = u.grp WHEN NOT MATCHED THEN INSERT (id, grp) VALUES (u.id, u.grp);
MERGE INTO mor_v3 t USING (SELECT g AS id, 'm' AS grp FROM generate_series(280, 320) g) u ON t.id = u.id WHEN MATCHED AND t.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET grp = u.grp WHEN NOT MATCHED THEN INSERT (id, grp) VALUES (u.id, u.grp);

-- A schema and a partitioning that changed between writes, an order, a block of statements.
CREATE TABLE evolved (id int NOT NULL, a int, s text, d numeric(5,2)) PARTITIONED BY (s) TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read');
INSERT INTO evolved SELECT g, g * 10, 's' || g % 2, g FROM generate_series(1, 20) g;
ALTER TABLE evolved ADD COLUMN c date FIRST, ALTER COLUMN a TYPE bigint, ALTER COLUMN d TYPE numeric(12,2);
ALTER TABLE evolved ADD PARTITION FIELD truncate(10, a);
INSERT INTO evolved SELECT date '2026-01-01' + g, g, g * 1000000000::bigint, 's' || g % 2, 1234567.25 FROM generate_series(21, 30) g;
ALTER TABLE evolved DROP PARTITION FIELD s;
ALTER TABLE evolved RENAME COLUMN s TO label;
ALTER TABLE evolved WRITE ORDERED BY label, id DESC;
BEGIN; DELETE FROM evolved WHERE id IN (2, 21); INSERT INTO evolved (id, a) VALUES (100, 5), (101, NULL); UPDATE evolved SET label = 'tx' WHERE id IN (3, 100); COMMIT;
ALTER TABLE evolved DROP COLUMN d;
ALTER TABLE evolved ADD COLUMN d text;
UPDATE evolved SET d = 'new' WHERE id = 30;

-- Position deletes of format 2 under deletion vectors of format 3.
CREATE TABLE upgraded (id int, v text) TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read');
INSERT INTO upgraded SELECT g, 'v' || g FROM generate_series(1, 50) g;
DELETE FROM upgraded WHERE id < 5;
ALTER TABLE upgraded SET TBLPROPERTIES ('format-version' = '3');
DELETE FROM upgraded WHERE id > 45;
INSERT INTO upgraded VALUES (60, 'late');
DELETE FROM upgraded WHERE id = 20;

CREATE TABLE defaults_v3 (id int) TBLPROPERTIES ('format-version' = '3');
INSERT INTO defaults_v3 VALUES (1), (2);
ALTER TABLE defaults_v3 ADD COLUMN n int DEFAULT 7;
INSERT INTO defaults_v3 VALUES (3, 3);
INSERT INTO defaults_v3 (id) VALUES (4);

CREATE TABLE nested (id int, st struct<a: int, b: text>, l text[]) TBLPROPERTIES ('format-version' = '2');
INSERT INTO nested SELECT g, ROW(g, 'b' || g), ARRAY['x' || g, NULL] FROM generate_series(1, 5) g;
UPDATE nested SET st = ROW((st).a * 10, NULL), l = NULL WHERE id = 2;
ALTER TABLE nested ADD COLUMN st.c bigint;
INSERT INTO nested VALUES (6, ROW(6, 'six', 66), '{}');

CREATE TABLE emptied (id int) TBLPROPERTIES ('format-version' = '2');
INSERT INTO emptied VALUES (1);
TRUNCATE emptied;
