"""The ```sql blocks of the documents run on the local engine, in their order, in one session per page; queries are read to their end.

Pages speak of tables that they do not define: ``TABLES`` and the files of ``folder`` are these. A script that is not to be run is no ```sql
block. The tutorial has a test of its own, which also compares its results.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.arch.repository import read, tracked_files
from tests.unit.table.lookup_tables import forget
from wiesel.common import Configuration
from wiesel.sql.catalog import table_factories
from wiesel.sql.language.parser import parse_script
from wiesel.table import TableEnvironment

BLOCK = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ELSEWHERE = "docs/sql-tutorial.md"

FILES: dict[str, list[dict[str, Any]]] = {
    "orders": [{"id": 1, "who": "ann", "item": "tea", "price": 5}, {"id": 2, "who": "bob", "item": "tea", "price": 6}],
    "customers": [{"name": "ann", "city": "Rome"}, {"name": "bob", "city": "Oslo"}],
    "payments": [{"id": 1, "order_id": 1, "amount": 5, "currency": "EUR", "ts": "2024-03-01 00:00:02"}],
    "rates": [{"currency": "EUR", "rate": 2, "ts": "2024-03-01 00:00:01"}],
    "events": [{"code": "c", "id": 1}, {"code": "d", "id": 1}],
    "reviews": [{"id": 1, "body": "good"}, {"id": 2, "body": "bad"}],
    "ticks": [{"symbol": "A", "price": price, "ts": f"2024-03-01 00:00:0{second}"} for second, price in enumerate([9, 8, 7, 9, 1])],
    "visits": [],
    "sales/day=2024-03-01/shop=books": [{"price": 1}],
}
JSON = "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{}')"
TABLES = {
    "docs/sql-optimizer.md": f"""
        CREATE TABLE orders (item STRING, price INT) {JSON.format("orders")};
        CREATE TABLE sales (price INT, `day` STRING, shop STRING) PARTITIONED BY (`day`, shop) {JSON.format("sales")};
    """,
    "docs/sql.md": f"""
        CREATE TABLE orders (id INT, who STRING, item STRING, price INT, now AS PROCTIME()) {JSON.format("orders")};
        CREATE TABLE customers (name STRING, city STRING) {JSON.format("customers")};
        CREATE TABLE people (name STRING, age INT, city STRING) WITH ('connector' = 'people', 'way' = 'ASYNC');
        CREATE TABLE payments (id INT, order_id INT, amount INT, currency STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        {JSON.format("payments")};
        CREATE TABLE rates (currency STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (currency) NOT ENFORCED)
        {JSON.format("rates")};
        CREATE TABLE events (code STRING, id INT) {JSON.format("events")};
        CREATE VIEW totals AS SELECT item, SUM(price) AS total FROM orders GROUP BY item;
        CREATE TABLE reviews (id INT, body STRING) {JSON.format("reviews")};
        CREATE TABLE ticks (symbol STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {JSON.format("ticks")};
    """,
}
MODEL = """
class Sentiment:
    def __init__(self, threshold):
        self.threshold = float(threshold)

    def predict(self, text):
        return text, 1.0 if text == "good" else 0.0
"""
FLIGHTS = {
    "carrier": ["UA"], "number": [1], "aircraft": ["N1"], "origin": ["EWR"], "destination": ["SFO"], "departure_ms": [0],
    "delay_min": [700],
}  # fmt: skip


def pages() -> list[str]:
    found = [str(path) for path in tracked_files() if path.suffix == ".md" and BLOCK.search(read(path))]
    return [page for page in found if page != ELSEWHERE]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory, with what the pages read."""
    monkeypatch.chdir(tmp_path)
    for name, rows in FILES.items():
        Path(name).mkdir(parents=True)
        Path(name, "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flights = Path(".cache", "flights", "replay-1")
    flights.mkdir(parents=True)
    types = {"number": pa.int32(), "departure_ms": pa.int64(), "delay_min": pa.int32()}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in FLIGHTS])
    pq.write_table(pa.table(FLIGHTS, schema=schema), flights / "flights.parquet")
    Path("my_models.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(table_factories._BUILT_IN, "people", "tests.unit.table.lookup_tables:PeopleFactory")
    forget()


@pytest.mark.parametrize("page", pages())
def test_statements_run(page: str) -> None:
    t_env = TableEnvironment.create(Configuration.from_dict({"wiesel.engine": "local", "table.dml-sync": "true"}))
    ran = 0
    for text in (TABLES.get(page, ""), *BLOCK.findall(read(page))):
        if "sql-dialect = hive" in text:
            statements = re.split(r";\n", text)
        else:
            t_env.execute_sql("SET 'execution.runtime-mode' = 'streaming'")
            statements = [text[each.span.start : each.span.end] for each in parse_script(text)]
        for statement in statements:
            if not statement.strip():
                continue
            result = t_env.execute_sql(statement)
            with result.collect() as rows:
                for _ in rows:
                    pass
            ran += 1
    assert ran


def test_the_pages_with_statements_are_found() -> None:
    assert {"README.md", "docs/quickstart-sql.md", "docs/sql.md"} <= set(pages())
