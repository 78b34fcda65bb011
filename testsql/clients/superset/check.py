"""Uses Superset over its HTTP interface as a person does in the browser: connects it to lhsql,
browses, makes datasets, asks in SQL Lab, builds charts and a dashboard, compares every number with
what lhsql itself says, and lets Chromium draw the dashboard.

    check.py SUPERSET_URL PGPORT MYSQLPORT|off FOLDER_FOR_SCREENSHOTS
"""

import json
import sys
import time

import psycopg2
import requests

URL, PG, MYSQL, SHOTS = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4]
web = requests.Session()
truth = psycopg2.connect(host="127.0.0.1", port=PG, dbname="lake", user="check")
truth.autocommit = True


def call(method, path, want=(200, 201), **body):
    r = web.request(method, URL + path, **body)
    assert r.status_code in want, "%s %s: %d %s" % (method, path, r.status_code, r.text[:300])
    return r.json() if r.content else {}


def lhsql(sql):
    with truth.cursor() as c:
        c.execute(sql)
        return c.fetchall()


def same(got, want, what):
    norm = lambda rows: sorted([tuple(round(float(x), 4) if str(x).replace(".", "", 1).lstrip("-").isdigit() else str(x) for x in r) for r in rows])
    assert norm(got) == norm(want), "%s: Superset has %r, lhsql %r" % (what, norm(got)[:5], norm(want)[:5])
    print("ok  %s (%d rows)" % (what, len(want)), flush=True)


def log_in():
    token = call("POST", "/api/v1/security/login", json={"username": "admin", "password": "admin", "provider": "db", "refresh": True})["access_token"]
    web.headers["Authorization"] = "Bearer " + token


METRIC = {"label": "revenue", "expressionType": "SQL", "sqlExpression": "SUM(amount)"}
COUNT = {"label": "items", "expressionType": "SQL", "sqlExpression": "COUNT(*)"}


def charts(dataset, wire):
    """Three charts: form data for the browser, query for the data, and lhsql's own words for it."""
    source = "%d__table" % dataset
    yield ("%s: revenue a month" % wire, "echarts_timeseries_line",
           {"datasource": source, "viz_type": "echarts_timeseries_line", "x_axis": "order_time", "time_grain_sqla": "P1M", "metrics": [METRIC],
            "groupby": ["region"], "row_limit": 1000, "x_axis_sort_asc": True, "show_legend": True},
           {"columns": [{"columnType": "BASE_AXIS", "sqlExpression": "order_time", "label": "order_time", "expressionType": "SQL", "timeGrain": "P1M"}, "region"],
            "metrics": [METRIC], "orderby": [], "row_limit": 1000},
           "select extract(epoch from date_trunc('month', order_time)) * 1000, region, sum(amount) from silver.order_item group by 1, 2",
           ("order_time", "region", "revenue"))
    yield ("%s: items by status" % wire, "pie",
           {"datasource": source, "viz_type": "pie", "groupby": ["status"], "metric": COUNT, "row_limit": 100, "show_labels": True, "show_legend": True},
           {"columns": ["status"], "metrics": [COUNT], "orderby": [[COUNT, False]], "row_limit": 100},
           "select status, count(*) from silver.order_item group by 1", ("status", "items"))
    yield ("%s: best of EU" % wire, "table",
           {"datasource": source, "viz_type": "table", "query_mode": "aggregate", "groupby": ["sku", "channel"], "metrics": [METRIC, COUNT], "row_limit": 10,
            "order_desc": True, "timeseries_limit_metric": METRIC,
            "adhoc_filters": [{"clause": "WHERE", "subject": "region", "operator": "==", "comparator": "EU", "expressionType": "SIMPLE"}]},
           {"columns": ["sku", "channel"], "metrics": [METRIC, COUNT], "orderby": [[METRIC, False]], "row_limit": 10,
            "filters": [{"col": "region", "op": "==", "val": "EU"}]},
           "select sku, channel, sum(amount), count(*) from silver.order_item where region = 'EU' group by 1, 2 order by 3 desc limit 10",
           ("sku", "channel", "revenue", "items"))


def wire(name, uri, schema):
    call("POST", "/api/v1/database/test_connection/", json={"sqlalchemy_uri": uri, "database_name": name})
    print("ok  %s: connection test" % name)
    db = call("POST", "/api/v1/database/", json={"database_name": name, "sqlalchemy_uri": uri, "expose_in_sqllab": True})["id"]
    schemas = call("GET", "/api/v1/database/%d/schemas/" % db)["result"]
    assert {"bronze", "silver", "gold"} <= set(schemas), schemas
    tables = call("GET", "/api/v1/database/%d/tables/?q=(schema_name:%s)" % (db, schema))["result"]
    assert [t["value"] for t in tables] == ["order_item"], tables
    meta = call("GET", "/api/v1/database/%d/table_metadata/?name=order_item&schema=%s" % (db, schema))
    cols = [c["name"] for c in meta["columns"]]
    want = [r[0] for r in lhsql("select column_name from information_schema.columns where table_schema = 'silver' and table_name = 'order_item' order by ordinal_position")]
    assert cols == want, (cols, want)
    print("ok  %s: schemas, tables, columns, key %s" % (name, meta.get("primaryKey", {}).get("constrained_columns")))
    got = call("POST", "/api/v1/sqllab/execute/", json={"database_id": db, "schema": schema, "runAsync": False, "client_id": "c%d" % (time.time() * 1000 % 10**9),
                                                      "sql": "select region, count(*) as n, sum(amount) as total from order_item where status <> 'cancelled' group by region order by region"})
    same([(r["region"], r["n"], r["total"]) for r in got["data"]],
         lhsql("select region, count(*), sum(amount) from silver.order_item where status <> 'cancelled' group by region"), name + ": SQL Lab")
    bad = call("POST", "/api/v1/sqllab/execute/", want=(400, 422, 500), json={"database_id": db, "schema": schema, "runAsync": False, "client_id": "b%d" % (time.time() * 1000 % 10**9),
                                                                          "sql": "select nothing_like_it from order_item"})
    assert "nothing_like_it" in json.dumps(bad), bad
    print("ok  %s: SQL Lab shows an error" % name)
    # Superset on SQLite has room for one dataset of a name: the second is a query's.
    body = {"database": db, "schema": schema, "table_name": "order_item"}
    if name != "postgres":
        body.update(table_name="order_item over " + name, sql="select * from order_item")
    dataset = call("POST", "/api/v1/dataset/", json=body)["id"]
    made = []
    for title, viz, form, query, sql, keys in charts(dataset, name):
        data = call("POST", "/api/v1/chart/data", json={"datasource": {"id": dataset, "type": "table"}, "queries": [query], "result_format": "json", "result_type": "full", "force": True})
        same([tuple(r[k] for k in keys) for r in data["result"][0]["data"]], lhsql(sql), title)
        chart = call("POST", "/api/v1/chart/", json={"slice_name": title, "viz_type": viz, "datasource_id": dataset, "datasource_type": "table", "params": json.dumps(form)})
        made.append((chart["id"], title))
    return dashboard(name, made)


def dashboard(name, charts):
    board = call("POST", "/api/v1/dashboard/", json={"dashboard_title": "Orders over " + name, "published": True})["id"]
    row = {"type": "ROW", "id": "ROW-1", "children": [], "meta": {"background": "BACKGROUND_TRANSPARENT"}, "parents": ["ROOT_ID", "GRID_ID"]}
    layout = {"DASHBOARD_VERSION_KEY": "v2", "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
              "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": ["ROW-1"], "parents": ["ROOT_ID"]}, "ROW-1": row,
              "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": "Orders over " + name}}}
    for i, (chart, title) in enumerate(charts):
        key = "CHART-%d" % i
        row["children"].append(key)
        layout[key] = {"type": "CHART", "id": key, "children": [], "parents": ["ROOT_ID", "GRID_ID", "ROW-1"],
                       "meta": {"chartId": chart, "width": 4, "height": 60, "sliceName": title}}
        call("PUT", "/api/v1/chart/%d" % chart, json={"dashboards": [board]})
    call("PUT", "/api/v1/dashboard/%d" % board, json={"position_json": json.dumps(layout)})
    return board


def draw(boards):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait
    o = Options()
    for a in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,760", "--hide-scrollbars"):
        o.add_argument(a)
    o.binary_location = "/usr/bin/chromium"
    b = webdriver.Chrome(options=o, service=Service("/usr/bin/chromedriver"))
    try:
        b.set_page_load_timeout(120)
        b.get(URL + "/login/")
        wait = WebDriverWait(b, 120)
        wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, "input[name=username], input#username"))
        b.find_element(By.CSS_SELECTOR, "input[name=username], input#username").send_keys("admin")
        b.find_element(By.CSS_SELECTOR, "input[type=password]").send_keys("admin")
        b.find_element(By.CSS_SELECTOR, "button[type=submit], input[type=submit]").click()
        wait.until(lambda b: "/login" not in b.current_url)
        for name, board in boards:
            b.get(URL + "/superset/dashboard/%d/?standalone=1" % board)
            # Two canvases (line, pie) and a table with rows are there, and nothing still loads.
            wait.until(lambda b: len(b.find_elements(By.TAG_NAME, "canvas")) >= 2 and len(b.find_elements(By.CSS_SELECTOR, "table tbody tr")) >= 5
                       and not b.find_elements(By.CSS_SELECTOR, ".loading"))
            time.sleep(3)  # the charts' animation
            assert not b.find_elements(By.CSS_SELECTOR, ".ant-alert-error"), "a chart shows an error"
            b.save_screenshot("%s/superset-%s.png" % (SHOTS, name))
            print("ok  %s: the dashboard is drawn" % name)
    finally:
        b.quit()


log_in()
boards = [("postgres", wire("postgres", "postgresql+psycopg2://superset@127.0.0.1:%s/lake" % PG, "silver"))]
if MYSQL != "off":
    boards.append(("mysql", wire("mysql", "mysql+pymysql://superset@127.0.0.1:%s/silver" % MYSQL, "silver")))
draw(boards)
