"""Random queries, each as Flink and as DuckDB write it.

Where Flink's result is another than DuckDB's, Flink's way counts and the query is not made, or not in the same words: full joins without an
equality (Flink cannot run them), an empty grouping set over no rows (Flink returns no row for it, so DuckDB is asked for groups with rows
only), places of NULLs in an order (Flink takes NULL for the smallest value).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.unit.random_sql.choices import Choices
from tests.unit.random_sql.expressions import NUMBERS, TYPES, Column, Sql, boolean, both, literal, same, value
from tests.unit.random_sql.tables import EVENTS, TABLES, columns_of
from tests.unit.random_sql.time_queries import TIME_QUERIES

__all__ = ["Query", "random_query"]

LONGEST = 1000
"""Letters. Longer queries take their time and show nothing that shorter ones do not."""

_MEETING = (("INT", "BIGINT"), ("INT", "DECIMAL"), ("BIGINT", "INT"), ("INT", "DOUBLE"), ("STRING", "STRING"))


@dataclass
class Query:
    """A query: its text for both, its columns as names and types, and what is special about it.

    Attributes:
        sql: The texts.
        columns: Names and types.
        ordered: Whether its rows come in an order in batch mode.
        in_batch: Whether it runs in batch mode only.
        features: What it is made of.
    """

    sql: Sql
    columns: list[tuple[str, str]]
    ordered: bool = False
    in_batch: bool = False
    features: set[str] = field(default_factory=set)


def _plain_type(name: str) -> str:
    return {"DECIMAL(10, 2)": "DECIMAL", "TIMESTAMP(3)": "TIMESTAMP"}.get(name, name)


class Maker:
    """Makes one query."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.names = 0
        self.with_: list[tuple[str, Query]] = []
        self.features: set[str] = set()
        self.in_batch = False
        self.global_left = 1
        """How many aggregates of all rows may still be made. Without rows Flink returns one in batch mode, none in streaming mode."""

    def fresh(self) -> str:
        """Return a new name of a table."""
        self.names += 1
        return f"q{self.names}"

    # FROM

    def table(self, depth: int) -> tuple[Sql, list[tuple[str, str]]]:
        """Return what can stand in FROM, and its columns."""
        what = self.choices.below(10)
        if depth > 0 and what >= 7:
            query = self.query(depth - 1)
            return both("({})", query.sql), query.columns
        if self.with_ and what >= 5:
            name, query = self.choices.of(self.with_)
            self.features.add("with")
            return same(name), query.columns
        if self.choices.chance(6):
            return self.values()
        name = self.choices.of((*TABLES, TABLES[0], *EVENTS))
        return same(name), [(column, _plain_type(of)) for column, of in columns_of(name).items()]

    def values(self) -> tuple[Sql, list[tuple[str, str]]]:
        """Return VALUES with a few rows."""
        kinds = [self.choices.of(TYPES) for _ in range(1 + self.choices.below(3))]
        rows = []
        for place in range(1 + self.choices.below(4)):
            # The first row has no NULL: it tells DuckDB the types.
            parts = [literal(self.choices, kind, null=place > 0) for kind in kinds]
            rows.append(both("(" + ", ".join(["{}"] * len(parts)) + ")", *parts))
        self.features.add("values")
        names = [f"x{place}" for place in range(len(kinds))]
        listed = both(", ".join(["{}"] * len(rows)), *rows)
        return both(f"(SELECT * FROM (VALUES {{}}) AS {self.fresh()} ({', '.join(names)}))", listed), list(zip(names, kinds, strict=True))

    def source(self, depth: int) -> tuple[Sql, list[Column]]:
        """Return an item of FROM with its alias, and its columns."""
        sql, columns = self.table(depth)
        alias, names = self.fresh(), [name for name, _ in columns]
        if self.choices.chance(8):
            names = [f"r{place}" for place in range(len(columns))]
            self.features.add("renamed")
            sql = both(f"{{}} AS {alias} ({', '.join(names)})", sql)
        else:
            sql = both(f"{{}} AS {alias}", sql)
        return sql, [Column(same(f"{alias}.{name}"), of, name) for name, (_, of) in zip(names, columns, strict=True)]

    def from_(self, depth: int) -> tuple[Sql, list[Column]]:
        """Return FROM without the word, and the columns that can be read."""
        sql, columns = self.source(depth)
        for _ in range(self.choices.of((0, 0, 1, 1, 2))):
            other, more = self.source(depth - 1)
            kind = self.choices.of(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"))
            if kind == "CROSS JOIN":
                sql = both("{} CROSS JOIN {}", sql, other)
            else:
                condition = self.equality(columns, more) or (same("TRUE") if kind == "JOIN" else None)
                if condition is None:
                    return sql, columns
                if self.choices.chance(25) and kind != "FULL JOIN":
                    condition = both("{} AND {}", condition, boolean(self.choices, columns + more, 1))
                sql = both(f"{{}} {kind} {{}} ON {{}}", sql, other, condition)
            self.features.add(kind.lower())
            columns = columns + more
        if self.choices.chance(6):
            alias, elements = self.fresh(), [value(self.choices, columns, "INT", 1) for _ in range(1 + self.choices.below(3))]
            array = both("ARRAY[" + ", ".join(["{}"] * len(elements)) + "]", *elements)
            sql = both(f"{{}} CROSS JOIN UNNEST({{}}) AS {alias} (x)", sql, array)
            columns = [*columns, Column(same(f"{alias}.x"), "INT", "x")]
            self.features.add("unnest")
        return sql, columns

    def equality(self, left: list[Column], right: list[Column]) -> Sql | None:
        """Return a condition that columns of both sides are equal."""
        pairs = [(one, other) for one in left for other in right if one.type == other.type and one.type != "BOOLEAN"]
        if not pairs:
            return None
        near = [pair for pair in pairs if pair[0].type == "INT"]
        one, other = self.choices.of(near if near and not self.choices.chance(40) else pairs)
        if self.choices.chance(15):
            # Equal numbers of different types meet, and columns and what is computed of others.
            kind, another = self.choices.of(_MEETING)
            self.features.add("computed key")
            return both("{} = {}", value(self.choices, left, kind, 1), value(self.choices, right, another, 1))
        sign = "IS NOT DISTINCT FROM" if self.choices.chance(10) else "="
        return both(f"{{}} {sign} {{}}", one.sql, other.sql)

    # WHERE

    def where(self, columns: list[Column], depth: int) -> Sql:
        """Return WHERE, or nothing."""
        parts: list[Sql] = []
        for _ in range(self.choices.of((0, 0, 0, 0, 1, 1, 1, 2))):
            what = self.choices.below(10)
            if what < 6 or depth <= 0:
                # The more there is to be true, the more rows are left.
                parts.append(both("({} OR {})", *(boolean(self.choices, columns, 1) for _ in range(2))))
            elif what < 8:
                parts.append(self.in_query(columns, depth))
            elif what < 9:
                parts.append(self.exists(columns, depth))
            else:
                parts.append(self.compared(columns, depth))
        if not parts:
            return same("")
        return both(" WHERE " + " AND ".join(["{}"] * len(parts)), *parts)

    def in_query(self, columns: list[Column], depth: int) -> Sql:
        """Return whether a value is one of a query."""
        negated = self.choices.of(("", "NOT "))
        self.features.add(f"{negated.lower()}in")
        source, inner = self.source(depth - 1)
        item = self.choices.of(inner)
        tested = value(self.choices, columns, item.type, 1)
        if self.choices.chance(20):
            second = self.choices.of(inner)
            tests = both("({}, {})", tested, value(self.choices, columns, second.type, 1))
            where = self.where(inner, depth - 1)
            return both(f"{{}} {negated}IN (SELECT {{}}, {{}} FROM {{}}{{}})", tests, item.sql, second.sql, source, where)
        if self.choices.chance(30):
            one, other = self.choices.of(columns), self.choices.of(inner)
            if one.type == other.type:
                condition = both("{} = {}", other.sql, one.sql)
                return both(f"{{}} {negated}IN (SELECT {{}} FROM {{}} WHERE {{}})", tested, item.sql, source, condition)
        where = self.where(inner, depth - 1)
        return both(f"{{}} {negated}IN (SELECT {{}} FROM {{}}{{}})", tested, item.sql, source, where)

    def exists(self, columns: list[Column], depth: int) -> Sql:
        """Return whether a query that reads the one around it has rows."""
        negated = self.choices.of(("", "NOT "))
        self.features.add(f"{negated.lower()}exists")
        source, inner = self.source(depth - 1)
        condition = self.equality(inner, columns) or same("TRUE")
        if self.choices.chance(40):
            condition = both("{} AND {}", condition, boolean(self.choices, inner + columns, 1))
        return both(f"{negated}EXISTS (SELECT 1 FROM {{}} WHERE {{}})", source, condition)

    def single(self, depth: int, kind: str) -> Sql | None:
        """Return a query for one value."""
        if not self.global_left:
            return None
        self.global_left -= 1
        self.features |= {"scalar", "global"}
        source, inner = self.source(depth - 1)
        function = self.choices.of(("MAX", "MIN"))
        return both(f"(SELECT {function}({{}}) FROM {{}}{{}}$GLOBAL)", value(self.choices, inner, kind, 1), source, self.where(inner, 0))

    def compared(self, columns: list[Column], depth: int) -> Sql:
        """Return a comparison with a query for one value."""
        kind = self.choices.of(("INT", "STRING", "DOUBLE", "TIMESTAMP"))
        query = self.single(depth, kind)
        if query is None:
            return boolean(self.choices, columns, 1)
        return both(f"{{}} {self.choices.of(('>=', '<=', '<>'))} {{}}", value(self.choices, columns, kind, 1), query)

    # Queries

    def query(self, depth: int) -> Query:
        """Return a query."""
        makers = (
            self.select, self.grouped, self.select, self.grouped, self.distinct, self.set_operation, self.first_rows, self.limited,
            self.grouping_sets, self.of_time, self.single_group, self.named, self.using, self.numbered,
        )  # fmt: skip
        return makers[self.choices.below(len(makers))](depth)

    def select(self, depth: int) -> Query:
        """Return a projection."""
        source, columns = self.from_(depth)
        where = self.where(columns, depth)
        kinds = [self.choices.of(TYPES) for _ in range(1 + self.choices.below(4))]
        items = [self.item(columns, kind, depth) for kind in kinds]
        return self.made("SELECT {} FROM {}{}", items, kinds, source, where)

    def item(self, columns: list[Column], kind: str, depth: int) -> Sql:
        """Return a column of a result."""
        if depth > 0 and self.choices.chance(4):
            found = self.single(depth, kind if kind != "BOOLEAN" else "INT")
            if found is not None and kind != "BOOLEAN":
                return found
        return value(self.choices, columns, kind, 2)

    def made(self, pattern: str, items: list[Sql], kinds: list[str], *parts: Sql) -> Query:
        """Return a query with named columns."""
        named = both(", ".join(f"{{}} AS c{place}" for place in range(len(items))), *items)
        return Query(both(pattern, named, *parts), [(f"c{place}", kind) for place, kind in enumerate(kinds)])

    def distinct(self, depth: int) -> Query:
        """Return different rows."""
        query = self.select(depth)
        self.features.add("distinct")
        return Query(Sql(*(text.replace("SELECT ", "SELECT DISTINCT ", 1) for text in query.sql)), query.columns)

    def aggregate(self, columns: list[Column]) -> tuple[Sql, str]:
        """Return the call of an aggregate function and its type."""
        function = self.choices.of(("COUNT(*)", "SUM", "COUNT", "MIN", "MAX", "AVG"))
        condition = both(" FILTER (WHERE {})", boolean(self.choices, columns, 1)) if self.choices.chance(20) else same("")
        if function == "COUNT(*)":
            return both("COUNT(*){}", condition), "BIGINT"
        kind = self.choices.of(NUMBERS if function in ("SUM", "AVG") else TYPES)
        if function in ("MIN", "MAX") and kind == "BOOLEAN":
            kind = "INT"
        if function == "AVG":
            kind = "BIGINT" if kind == "DECIMAL" else kind
        distinct = "DISTINCT " if self.choices.chance(20) else ""
        argument = value(self.choices, columns, kind, 1)
        plain = both(f"{function}({distinct}{{}}){{}}", argument, condition)
        if function == "COUNT":
            return plain, "BIGINT"
        if function != "AVG" or kind == "DOUBLE":
            return plain, kind
        # Flink's AVG of integers is one, too.
        total, count = (f"{name}({distinct}{argument.duck}){condition.duck}" for name in ("SUM", "COUNT"))
        return Sql(plain.flink, f"CAST(trunc(CAST({total} AS DOUBLE) / nullif({count}, 0)) AS BIGINT)"), "BIGINT"

    def grouped(self, depth: int) -> Query:
        """Return groups."""
        source, columns = self.from_(depth)
        where = self.where(columns, depth)
        kinds = [self.choices.of(TYPES) for _ in range(1 + self.choices.below(2))]
        keys = [value(self.choices, columns, kind, self.choices.of((0, 0, 1))) for kind in kinds]
        keys = [key if key.flink.startswith(("q", "(", "CASE", "CO")) else next(c.sql for c in columns) for key in keys]
        kinds = [next((c.type for c in columns if c.sql == key), kind) for key, kind in zip(keys, kinds, strict=True)]
        calls = [self.aggregate(columns) for _ in range(self.choices.below(4))]
        having = self.having(columns) if self.choices.chance(20) else same("")
        self.features.add("group")
        group = both(" GROUP BY " + ", ".join(["{}"] * len(keys)), *keys)
        items = [*keys, *(call for call, _ in calls)]
        return self.made("SELECT {} FROM {}{}{}{}", items, kinds + [kind for _, kind in calls], source, where, group, having)

    def having(self, columns: list[Column]) -> Sql:
        """Return HAVING."""
        self.features.add("having")
        call, kind = self.aggregate(columns)
        if self.choices.chance(40):
            return both(f" HAVING COUNT(*) > {self.choices.below(3)}")
        return both(" HAVING {}", boolean(self.choices, [Column(call, kind)], 1))

    def single_group(self, depth: int) -> Query:
        """Return aggregates of all rows."""
        if not self.global_left:
            return self.grouped(depth)
        self.global_left -= 1
        self.features.add("global")
        source, columns = self.from_(depth)
        where = self.where(columns, 0)
        calls = [self.aggregate(columns) for _ in range(1 + self.choices.below(3))]
        items, kinds = [call for call, _ in calls], [kind for _, kind in calls]
        return self.made("SELECT {} FROM {}{}$GLOBAL", items, kinds, source, where)

    def grouping_sets(self, depth: int) -> Query:
        """Return groups by several keys in turn."""
        source, columns = self.from_(depth)
        where = self.where(columns, depth)
        keys = [self.choices.of(columns) for _ in range(2)]
        if keys[0].sql == keys[1].sql:
            return self.grouped(depth)
        one, other = (key.sql for key in keys)
        form = self.choices.of(("CUBE ({}, {})", "ROLLUP ({}, {})", "GROUPING SETS (({}, {}), ({}), ({}))", "GROUPING SETS (({}), ())"))
        group = both(form, *(one, other, one, other)[: form.count("{}")])
        calls = [self.aggregate(columns) for _ in range(1 + self.choices.below(3))]
        items, kinds = [one], [keys[0].type]
        if form.count("{}") > 1:
            items, kinds = [*items, other, both("GROUPING({}, {})", one, other)], [*kinds, keys[1].type, "BIGINT"]
        items += [call for call, _ in calls]
        kinds += [kind for _, kind in calls]
        self.features.add("grouping sets")
        # Without rows Flink has no group of all of them.
        return self.made("SELECT {} FROM {}{} GROUP BY {}{}", items, kinds, source, where, group, Sql("", " HAVING COUNT(*) > 0"))

    def set_operation(self, depth: int) -> Query:
        """Return what two queries have together."""
        word = self.choices.of(("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
        kinds = [self.choices.of(TYPES) for _ in range(1 + self.choices.below(3))]
        sides = []
        for side in range(2):
            source, columns = self.source(depth - 1)
            mixed = ["BIGINT" if kind == "INT" and side and self.choices.chance(30) else kind for kind in kinds]
            items = [value(self.choices, columns, kind, 1) for kind in mixed]
            sides.append(self.made("SELECT {} FROM {}{}", items, mixed, source, self.where(columns, depth - 1)))
        self.features.add(word.lower())
        columns = [(name, other) for (name, _), (_, other) in zip(sides[0].columns, sides[1].columns, strict=True)]
        return Query(both(f"{{}} {word} {{}}", sides[0].sql, sides[1].sql), columns)

    def _order(self, columns: list[tuple[str, str]], first: int) -> Sql:
        """Return an order of rows by all columns, of which equal rows only have the same place."""
        names = [name for name, _ in columns]
        parts = []
        for name in names[first:] + names[:first]:
            way = self.choices.of(("", " DESC", " NULLS LAST", " DESC NULLS FIRST"))
            parts.append(Sql(name + way, name + {"": " NULLS FIRST", " DESC": " DESC NULLS LAST"}.get(way, way)))
        return both(", ".join(["{}"] * len(parts)), *parts)

    def first_rows(self, depth: int) -> Query:
        """Return the first rows of each partition."""
        inner = self.query(depth - 1) if depth > 0 else self.select(0)
        partition = self.choices.of(inner.columns)[0]
        order = self._order(inner.columns, self.choices.below(len(inner.columns)))
        first, last = self.choices.of(((1, 1), (1, 2), (1, 3), (2, 3), (2, 2)))
        by = f"PARTITION BY {partition} " if not self.choices.chance(25) else ""
        rank = f"n{self.fresh()}"
        number = both(f"ROW_NUMBER() OVER ({by}ORDER BY {{}}) AS {rank}", order)
        numbered = self.choices.chance(50)
        names = ", ".join(name for name, _ in inner.columns) + (f", {rank}" if numbered else "")
        where = f"{rank} <= {last}" if first == 1 else f"{rank} BETWEEN {first} AND {last}"
        where = f"{rank} = {first}" if first == last and self.choices.chance(50) else where
        above = same(where)
        if self.choices.chance(25):
            columns = [Column(same(name), of, name) for name, of in inner.columns]
            here = [column for column in columns if column.name == partition]
            # Of the partition alone it may be asked below the numbers.
            above = both(f"{where} AND {{}}", boolean(self.choices, here if self.choices.chance(50) else columns, 1))
        self.features.add("top-n")
        alias, below = self.fresh(), self.fresh()
        sql = both(f"SELECT {names} FROM (SELECT {below}.*, {{}} FROM ({{}}) AS {below}) AS {alias} WHERE {{}}", number, inner.sql, above)
        return Query(sql, [*inner.columns, (rank, "BIGINT")] if numbered else inner.columns)

    def numbered(self, depth: int) -> Query:
        """Return rows with what OVER computes of others in an order that is no time: in batch mode, but for sums up to each row."""
        inner = self.select(depth)
        partition = self.choices.of(inner.columns)[0]
        order = self._order(inner.columns, self.choices.below(len(inner.columns)))
        names = {kind: name for name, kind in inner.columns}
        number = names.get("INT", names.get("BIGINT"))
        calls = [("COUNT(*)", "BIGINT"), *([(f"SUM({number})", "BIGINT"), (f"MIN({number})", "BIGINT")] if number else [])]
        call, kind = self.choices.of(calls)
        form = self.choices.below(6)
        if form == 0:
            # The rows with the same value of a column come in together.
            column = self.choices.of(inner.columns)[0]
            over = Sql(*(f"{call} OVER (PARTITION BY {partition} ORDER BY {column}{nulls})" for nulls in ("", " NULLS FIRST")))
            self.features.add("over changes")
        else:
            self.in_batch = True
            frame = self.choices.of(("2 PRECEDING AND CURRENT ROW", "1 PRECEDING AND 1 FOLLOWING", "CURRENT ROW AND UNBOUNDED FOLLOWING"))
            lag = self.choices.of(inner.columns)
            function, kind, rows = self.choices.of(
                (
                    (call, kind, f" ROWS BETWEEN {frame}"),
                    ("RANK()", "BIGINT", ""),
                    ("DENSE_RANK()", "BIGINT", ""),
                    (f"LAG({lag[0]})", lag[1], ""),
                    (f"LEAD({lag[0]}, 2)", lag[1], ""),
                )
            )
            over = both(f"{function} OVER (PARTITION BY {partition} ORDER BY {{}}{rows})", order)
            self.features.add("over rows")
        made, below = f"o{self.fresh()}", self.fresh()
        sql = both(f"SELECT {below}.*, {{}} AS {made} FROM ({{}}) AS {below}", over, inner.sql)
        return Query(sql, [*inner.columns, (made, kind)])

    def limited(self, depth: int) -> Query:
        """Return the first rows of all."""
        inner = self.select(depth)
        order = self._order(inner.columns, self.choices.below(len(inner.columns)))
        offset = f" OFFSET {self.choices.below(3)}" if self.choices.chance(30) else ""
        self.features.add("limit")
        sql = both(
            f"SELECT * FROM ({{}}) AS {self.fresh()} ORDER BY {{}} LIMIT {self.choices.of((1, 2, 3, 5, 0))}{offset}", inner.sql, order
        )
        return Query(sql, inner.columns)

    def named(self, depth: int) -> Query:
        """Return a query that reads queries of WITH."""
        if depth < 2 or self.with_:
            return self.select(depth)
        name = f"w{self.fresh()}"
        query = self.query(1)
        self.with_.append((name, query))
        outer = self.query(1)
        self.with_ = []
        return Query(both(f"WITH {name} AS ({{}}) {{}}", query.sql, outer.sql), outer.columns)

    def using(self, depth: int) -> Query:
        """Return a join by the columns of the same names."""
        one, other = self.choices.of(TABLES), self.choices.of(TABLES)
        kind = self.choices.of(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        key = self.choices.of(("k", "s", "i", "dt"))
        left, right = self.fresh(), self.fresh()
        columns = [Column(same(f"{left}.{name}"), _plain_type(of), name) for name, of in columns_of(one).items() if name != key]
        columns += [Column(same(f"{right}.{name}"), _plain_type(of), name) for name, of in columns_of(other).items() if name != key]
        kinds = [self.choices.of(TYPES) for _ in range(1 + self.choices.below(3))]
        items = [same(key), *(value(self.choices, columns, kind, 1) for kind in kinds)]
        kinds = [_plain_type(columns_of(one)[key]), *kinds]
        self.features.add("using")
        source = same(f"{one} AS {left} {kind} {other} AS {right} USING ({key})")
        return self.made("SELECT {} FROM {}", items, kinds, source)

    def of_time(self, depth: int) -> Query:
        """Return a query in which the time of the rows matters."""
        name, make = self.choices.of(TIME_QUERIES)
        sql, columns = make(self.choices, self.fresh())
        self.features.add(name)
        return Query(sql, columns)


def random_query(choices: Choices) -> Query:
    """Return a query; ``$GLOBAL`` in its text stands behind each group of all rows."""
    for depth in (2, 2, 2, 1):
        maker = Maker(choices)
        query = maker.query(depth)
        if len(query.sql.flink) < LONGEST:
            break
    query.features, query.in_batch = maker.features, maker.in_batch
    if choices.chance(10):
        query.features.add("order")
        query.ordered = True
        query.sql = both(f"SELECT * FROM ({{}}) AS {maker.fresh()} ORDER BY {{}}", query.sql, maker._order(query.columns, 0))
    return query
