"""Random streaming queries whose results are recorded from real Flink: ``python -m tests.differential.random_queries FIRST COUNT > FILE``.

A line per seed: tables with their rows, and queries over them, without results. ``record_random_queries.py`` adds those of Flink. The
queries are those of ``tests.unit.random_sql``, which are compared with DuckDB, and others with functions and aggregates that DuckDB
computes differently or does not have. Tables ``t`` and ``v`` have new rows only, ``u`` has updates and deletions, ``e`` and ``f`` have
event time.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.unit.random_sql.choices import Choices
from tests.unit.random_sql.expressions import Column, boolean, same, value
from tests.unit.random_sql.queries import LONGEST, Maker, Query
from tests.unit.random_sql.tables import TABLES, columns_of, random_data

CHANGING = "u"
QUERIES = 20
"""So many queries read the tables of one seed."""

_NOT_A_NUMBER = 9
"""Of so many values of the column ``d`` one is NaN."""

# By the type of the result: patterns, and the types of their operands.
_EXPRESSIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "INT": (
        ("TIMESTAMPDIFF(MINUTE, {}, {})", "TIMESTAMP", "TIMESTAMP"),
        ("TIMESTAMPDIFF(DAY, {}, {})", "DATE", "DATE"),
        ("TRY_CAST({} AS INT)", "STRING"),
        ("CAST({} AS INT)", "DOUBLE"),
        ("CAST({} AS INT)", "BIGINT"),
        ("SIGN({})", "INT"),
        ("ASCII({})", "STRING"),
        ("INSTR({}, 'b')", "STRING"),
        ("GREATEST({}, {})", "INT", "INT"),
        ("IF({}, {}, {})", "BOOLEAN", "INT", "INT"),
    ),
    "BIGINT": (
        ("EXTRACT(DOW FROM {})", "DATE"),
        ("EXTRACT(EPOCH FROM {})", "TIMESTAMP"),
        ("QUARTER({})", "DATE"),
        ("CAST({} AS BIGINT)", "DECIMAL"),
        ("MOD({}, 7)", "BIGINT"),
        ("LEAST({}, {})", "BIGINT", "BIGINT"),
    ),
    "DOUBLE": (
        ("({} / {})", "DOUBLE", "DOUBLE"),
        ("POWER({}, 2)", "DOUBLE"),
        ("ROUND({}, 1)", "DOUBLE"),
        ("TRUNCATE({}, 1)", "DOUBLE"),
        ("SQRT(ABS({}))", "DOUBLE"),
        ("SIGN({})", "DOUBLE"),
        ("CAST({} AS FLOAT)", "DOUBLE"),
        ("GREATEST({}, {})", "DOUBLE", "DOUBLE"),
        ("EXP({} / 8)", "DOUBLE"),
    ),
    "DECIMAL": (
        ("ROUND({}, 1)", "DECIMAL"),
        ("({} / CAST(4 AS DECIMAL(3, 1)))", "DECIMAL"),
        ("({} * {})", "DECIMAL", "DECIMAL"),
        ("CEIL({})", "DECIMAL"),
        ("FLOOR({})", "DECIMAL"),
        ("TRUNCATE({}, 1)", "DECIMAL"),
        ("MOD({}, 0.7)", "DECIMAL"),
        ("CAST({} AS DECIMAL(8, 1))", "DOUBLE"),
        ("TRY_CAST({} AS DECIMAL(6, 2))", "STRING"),
    ),
    "STRING": (
        ("CONCAT({}, '-', {})", "STRING", "STRING"),
        ("CONCAT_WS('|', {}, {})", "STRING", "STRING"),
        ("LPAD({}, 4, '*')", "STRING"),
        ("RPAD({}, 3, '<>')", "STRING"),
        ("LEFT({}, 1)", "STRING"),
        ("RIGHT({}, 2)", "STRING"),
        ("SUBSTRING({}, -2)", "STRING"),
        ("INITCAP({})", "STRING"),
        ("REVERSE({})", "STRING"),
        ("REPEAT({}, 2)", "STRING"),
        ("OVERLAY({} PLACING 'zz' FROM 2 FOR 1)", "STRING"),
        ("REGEXP_REPLACE({}, '[ab]+', '<$0>')", "STRING"),
        ("REGEXP_EXTRACT({}, '(a|b)(.?)', 2)", "STRING"),
        ("SPLIT_INDEX({}, 'b', 0)", "STRING"),
        ("DATE_FORMAT({}, 'yyyy/MM/dd HH:mm')", "TIMESTAMP"),
        ("MD5({})", "STRING"),
        ("CAST({} AS STRING)", "DOUBLE"),
        ("CAST({} AS STRING)", "DECIMAL"),
        ("CAST({} AS STRING)", "TIMESTAMP"),
        ("TRIM(LEADING 'a' FROM {})", "STRING"),
    ),
    "BOOLEAN": (
        ("({} SIMILAR TO '(a|b)*')", "STRING"),
        ("STARTSWITH({}, 'a')", "STRING"),
        ("REGEXP({}, 'b.?$')", "STRING"),
        ("(CAST({} AS BOOLEAN) IS NULL)", "INT"),
        ("({} = {})", "DOUBLE", "DOUBLE"),
        ("({} > {})", "DOUBLE", "DOUBLE"),
        ("({} IN ('a', 'ab', {}))", "STRING", "STRING"),
    ),
    "DATE": (("CAST({} AS DATE)", "TIMESTAMP"), ("TIMESTAMPADD(MONTH, 1, {})", "DATE"), ("FLOOR({} TO MONTH)", "DATE")),
    "TIMESTAMP": (
        ("TIMESTAMPADD(HOUR, 7, {})", "TIMESTAMP"),
        ("CEIL({} TO MINUTE)", "TIMESTAMP"),
        ("FLOOR({} TO DAY)", "TIMESTAMP"),
        ("TO_TIMESTAMP(DATE_FORMAT({}, 'yyyy-MM-dd HH:mm:ss'))", "TIMESTAMP"),
    ),
}
_AGGREGATES: tuple[tuple[str, str, str], ...] = (
    ("AVG({})", "DECIMAL", "DECIMAL"),
    ("AVG(DISTINCT {})", "INT", "INT"),
    ("SUM({})", "DECIMAL", "DECIMAL"),
    ("SUM(DISTINCT {})", "DOUBLE", "DOUBLE"),
    ("STDDEV_POP({})", "DOUBLE", "DOUBLE"),
    ("VAR_SAMP({})", "DOUBLE", "DOUBLE"),
    ("COUNT(DISTINCT {})", "STRING", "BIGINT"),
    ("COUNT(DISTINCT {})", "DOUBLE", "BIGINT"),
    ("MAX({})", "DOUBLE", "DOUBLE"),
    ("MIN({})", "DOUBLE", "DOUBLE"),
    ("MAX({})", "STRING", "STRING"),
    ("MIN({})", "TIMESTAMP", "TIMESTAMP"),
    ("MAX({})", "DATE", "DATE"),
    ("MIN({})", "DECIMAL", "DECIMAL"),
)


class FlinkMaker(Maker):
    """Makes a query for Flink alone."""

    def query(self, depth: int) -> Query:
        """Return a query."""
        if self.choices.chance(45):
            makers = (self.computed, self.aggregated, self.aggregated_changes, self.latest, self.joined_groups, self.over_time)
            return makers[self.choices.below(len(makers))](depth)
        return super().query(depth)

    def expression(self, columns: list[Column], kind: str, depth: int = 2) -> str:
        """Return an expression of a type, with functions of Flink."""
        if depth == 0 or self.choices.chance(30):
            return value(self.choices, columns, kind, min(depth, 1)).flink
        pattern, *kinds = self.choices.of(_EXPRESSIONS[kind])
        return pattern.format(*(self.expression(columns, each, depth - 1) for each in kinds))

    def kinds(self, count: int) -> list[str]:
        """Return types."""
        return [self.choices.of(tuple(_EXPRESSIONS)) for _ in range(1 + self.choices.below(count))]

    def computed(self, depth: int) -> Query:
        """Return a projection."""
        source, columns = self.from_(depth - 1)
        kinds = self.kinds(4)
        self.features.add("functions")
        items = [same(self.expression(columns, kind)) for kind in kinds]
        where = f" WHERE {self.expression(columns, 'BOOLEAN')}" if self.choices.chance(40) else ""
        return self.made("SELECT {} FROM {}{}", items, kinds, source, same(where))

    def calls(self, columns: list[Column], count: int) -> tuple[list[str], list[str]]:
        """Return calls of aggregate functions, and their types."""
        texts, kinds = [], []
        for _ in range(count):
            pattern, of, kind = self.choices.of(_AGGREGATES)
            condition = f" FILTER (WHERE {boolean(self.choices, columns, 1).flink})" if self.choices.chance(25) else ""
            texts.append(pattern.format(value(self.choices, columns, of, 1).flink) + condition)
            kinds.append(kind)
        return texts, kinds

    def aggregated(self, depth: int) -> Query:
        """Return groups."""
        source, columns = self.from_(depth - 1)
        key = self.choices.of(columns)
        calls, kinds = self.calls(columns, 1 + self.choices.below(3))
        having = self.choices.of(("", "", " HAVING COUNT(*) > 1", f" HAVING {calls[0]} IS NOT NULL"))
        self.features.add("aggregates")
        items = [key.sql, *map(same, calls)]
        return self.made("SELECT {} FROM {} GROUP BY {}{}", items, [key.type, *kinds], source, key.sql, same(having))

    def aggregated_changes(self, depth: int) -> Query:
        """Return groups of groups."""
        inner = self.aggregated(depth)
        name = self.fresh()
        columns = [Column(same(f"{name}.{column}"), kind, column) for column, kind in inner.columns]
        key = self.choices.of(columns)
        calls, kinds = self.calls(columns, 1 + self.choices.below(2))
        self.features.add("groups of groups")
        items = [key.sql, *map(same, calls)]
        return self.made(f"SELECT {{}} FROM ({{}}) AS {name} GROUP BY {{}}", items, [key.type, *kinds], inner.sql, key.sql)

    def latest(self, depth: int) -> Query:
        """Return what joins and groups make of the last rows of keys."""
        table, other, key = self.choices.of(("e", "f")), self.choices.of(("t", "u", "e")), self.choices.of(("k", "s", "k, b"))
        rows, joined = self.fresh(), self.fresh()
        # Behind another column Flink 2.3 takes the time itself for the whole order: docs/flink-semantics.md.
        order = self.choices.of(("rt", "rt DESC", "rt DESC", "i, CAST(rt AS STRING)", "n DESC, CAST(rt AS STRING)"))
        inner = (
            f"(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {order}) AS rn FROM {table}) WHERE rn = 1) AS {rows}"
        )
        kind = self.choices.of(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        columns = [Column(same(f"{rows}.{name}"), _plain(of), name) for name, of in columns_of(table).items()]
        columns += [Column(same(f"{joined}.{name}"), _plain(of), name) for name, of in columns_of(other).items()]
        on = f"{rows}.{key[0]} = {joined}.{key[0]}"
        self.features.add("latest rows")
        source = same(f"{inner} {kind} {other} AS {joined} ON {on}")
        if self.choices.chance(50):
            calls, kinds = self.calls(columns, 2)
            by = self.choices.of(columns)
            items = [by.sql, *map(same, calls)]
            return self.made("SELECT {} FROM {} GROUP BY {}", items, [by.type, *kinds], source, by.sql)
        kinds = self.kinds(3)
        return self.made("SELECT {} FROM {}", [same(self.expression(columns, kind, 1)) for kind in kinds], kinds, source)

    def joined_groups(self, depth: int) -> Query:
        """Return groups of one table joined with those of another."""
        sides, columns = [], []
        for _ in range(2):
            table, name = self.choices.of((*TABLES, "e")), self.fresh()
            inner = [Column(same(column), _plain(of), column) for column, of in columns_of(table).items()]
            calls, kinds = self.calls(inner, 2)
            sides.append(f"(SELECT k, {calls[0]} AS a, {calls[1]} AS b FROM {table} GROUP BY k) AS {name}")
            columns.append([Column(same(f"{name}.{c}"), kind, c) for c, kind in zip("kab", ["INT", *kinds], strict=True)])
        kind = self.choices.of(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        keys = " AND ".join(f"{one.sql.flink} = {other.sql.flink}" for one, other in [(columns[0][0], columns[1][0])])
        every = [*columns[0], *columns[1]]
        self.features.add("joined groups")
        items = [each.sql for each in every]
        where = f" WHERE {boolean(self.choices, every, 1).flink}" if self.choices.chance(30) else ""
        source = same(f"{sides[0]} {kind} {sides[1]} ON {keys}{where}")
        return self.made("SELECT {} FROM {}", items, [each.type for each in every], source)

    def over_time(self, depth: int) -> Query:
        """Return aggregates of the rows before each row."""
        table, name = self.choices.of(("e", "f")), self.fresh()
        frame = self.choices.of(
            (
                "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
                "RANGE UNBOUNDED PRECEDING",
                "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW",
            )
        )
        by = self.choices.of(("", "PARTITION BY k ", "PARTITION BY s, b "))
        calls = self.choices.of(
            (("AVG(n)", "DECIMAL"), ("FIRST_VALUE(s)", "STRING"), ("LAST_VALUE(d)", "DOUBLE"), ("STDDEV_POP(d)", "DOUBLE"))
        )
        second = self.choices.of((("MAX(d)", "DOUBLE"), ("COUNT(DISTINCT s)", "BIGINT"), ("SUM(n)", "DECIMAL"), ("LAG(i, 1)", "INT")))
        if second[0].startswith("LAG"):
            frame = ""
        inner = [Column(same(f"{name}.{column}"), _plain(of), column) for column, of in columns_of(table).items()]
        plain = self.choices.of(inner)
        self.features.add("over time")
        window = f"({by}ORDER BY rt {frame})"
        items = [plain.sql, same(f"{second[0]} OVER {window}")]
        kinds = [plain.type, second[1]]
        if frame:
            items.append(same(f"{calls[0]} OVER {window}"))
            kinds.append(calls[1])
        return self.made("SELECT {} FROM {}", items, kinds, same(f"{table} AS {name}"))


def _plain(name: str) -> str:
    return {"DECIMAL(10, 2)": "DECIMAL", "TIMESTAMP(3)": "TIMESTAMP"}.get(name, name)


def streaming_query(choices: Choices) -> Query | None:
    """Return a query; None if it is too long or runs in batch mode only."""
    maker = FlinkMaker(choices)
    query = maker.query(2)
    query.features = maker.features
    return None if maker.in_batch or len(query.sql.flink) > LONGEST else query


def _json(given: Any) -> Any:
    if isinstance(given, datetime.datetime):
        return given.isoformat(" ", "milliseconds")
    return str(given) if isinstance(given, datetime.date | Decimal) else given


def case(seed: int) -> dict[str, Any]:
    """Return the tables and queries of a seed: rows as texts of JSON, those of the changing table with their kinds."""
    choices = Choices(seed)
    data = random_data(choices)
    place = list(columns_of("t")).index("d")

    def row(given: tuple[Any, ...]) -> list[Any]:
        found = [_json(each) for each in given]
        if found[place] is not None and hash_of(found) % _NOT_A_NUMBER == 0:
            found[place] = "NaN"
        return found

    tables: dict[str, Any] = {name: [row(each) for each in rows] for name, rows in data.rows.items() if name != CHANGING}
    tables[CHANGING] = [[kind, *row(each)] for kind, each in data.changes[CHANGING]]
    queries: list[str] = []
    while len(queries) < QUERIES:
        query = streaming_query(choices)
        if query is not None:
            queries.append(query.sql.flink.replace("$GLOBAL", ""))
    return {"seed": seed, "tables": tables, "queries": queries}


def hash_of(row: list[Any]) -> int:
    """Return a number that depends on the values of a row alone."""
    return sum(ord(letter) * (place + 1) for place, letter in enumerate(json.dumps(row)))


def cases(first: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield cases until there are so many queries."""
    for seed in range(first, first + -(-count // QUERIES)):
        yield case(seed)


if __name__ == "__main__":
    for each in cases(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(each, ensure_ascii=False, separators=(",", ":")))
