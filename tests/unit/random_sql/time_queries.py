"""Queries in which the time of the rows matters, over the tables whose rows have different times. DuckDB's are written out by hand.

The watermark is far behind, so that no row is late.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.random_sql.choices import Choices
from tests.unit.random_sql.expressions import Sql, both, same
from tests.unit.random_sql.tables import EVENTS

__all__ = ["TIME_QUERIES"]

Made = tuple[Sql, list[tuple[str, str]]]
_CALLS = ("COUNT(*)", "SUM(i)", "MIN(d)", "MAX(s)", "COUNT(DISTINCT s)", "SUM(n)", "COUNT(i)", "SUM(DISTINCT k)")
_KINDS = ("BIGINT", "INT", "DOUBLE", "STRING", "BIGINT", "DECIMAL", "BIGINT", "INT")

_WITHOUT_DISTINCT = tuple(call for call in _CALLS if "DISTINCT" not in call)


def _calls(choices: Choices, count: int, of: tuple[str, ...] = _CALLS) -> tuple[list[str], list[str]]:
    chosen = [choices.below(len(of)) for _ in range(count)]
    return [of[place] for place in chosen], [_KINDS[_CALLS.index(of[place])] for place in chosen]


def _named(items: list[str]) -> str:
    return ", ".join(f"{item} AS c{place}" for place, item in enumerate(items))


def _columns(kinds: list[str]) -> list[tuple[str, str]]:
    return [(f"c{place}", kind) for place, kind in enumerate(kinds)]


def over(choices: Choices, alias: str) -> Made:
    """Return aggregates of the rows before each row."""
    frame = choices.of(
        (
            "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            "RANGE BETWEEN INTERVAL '20' MINUTE PRECEDING AND CURRENT ROW",
            "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        )
    )
    partition = choices.of(("", "PARTITION BY k ", "PARTITION BY s ", "PARTITION BY k, b "))
    calls, kinds = _calls(choices, 1 + choices.below(3), _WITHOUT_DISTINCT)
    items = ["k", "rt", *(f"{call} OVER w" for call in calls)]
    text = f"SELECT {_named(items)} FROM {choices.of(EVENTS)} WINDOW w AS ({partition}ORDER BY rt {frame})"
    return same(text), _columns(["INT", "TIMESTAMP", *kinds])


_WINDOWS = {
    "TUMBLE(TABLE {}, DESCRIPTOR(rt), INTERVAL '10' MINUTE)": (
        "SELECT *, time_bucket(INTERVAL '10 minutes', rt) AS window_start, window_start + INTERVAL '10 minutes' AS window_end FROM {}"
    ),
    "HOP(TABLE {}, DESCRIPTOR(rt), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE)": (
        "SELECT *, time_bucket(INTERVAL '5 minutes', rt) - INTERVAL '5 minutes' * hop AS window_start, "
        "window_start + INTERVAL '15 minutes' AS window_end FROM {} CROSS JOIN (VALUES (0), (1), (2)) AS hops(hop)"
    ),
    "CUMULATE(TABLE {}, DESCRIPTOR(rt), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE)": (
        "SELECT * FROM (SELECT *, time_bucket(INTERVAL '15 minutes', rt, TIMESTAMP '1970-01-01') AS window_start, "
        "window_start + INTERVAL '5 minutes' * step AS window_end FROM {} CROSS JOIN (VALUES (1), (2), (3)) AS steps(step)) AS x "
        "WHERE rt < window_end"
    ),
    "SESSION(TABLE {} PARTITION BY s, DESCRIPTOR(rt), INTERVAL '12' MINUTE)": (
        "SELECT *, MIN(rt) OVER p AS window_start, MAX(rt) OVER p + INTERVAL '12 minutes' AS window_end FROM (SELECT *, "
        "SUM(CASE WHEN gone THEN 1 ELSE 0 END) OVER (PARTITION BY s ORDER BY rt) AS number FROM (SELECT *, rt - LAG(rt) "
        "OVER (PARTITION BY s ORDER BY rt) > INTERVAL '12 minutes' AS gone FROM {}) AS x) AS y WINDOW p AS (PARTITION BY s, number)"
    ),
}


def _windowed(choices: Choices, *, sessions: bool) -> tuple[Sql, bool]:
    table = choices.of(EVENTS)
    flink, duck = choices.of([item for item in _WINDOWS.items() if sessions or "SESSION" not in item[0]])
    return Sql(f"TABLE({flink.format(table)})", f"({duck.format(table)})"), flink.startswith("SESSION")


def window_groups(choices: Choices, alias: str) -> Made:
    """Return the groups of windows."""
    (flink, duck), session = _windowed(choices, sessions=True)
    key, kind = ("s", "STRING") if session else choices.of((("k", "INT"), ("s", "STRING"), ("b", "BOOLEAN"), ("dt", "DATE")))
    # DISTINCT in sessions is not supported: what is refused has its own tests.
    calls, kinds = _calls(choices, 1 + choices.below(3), _WITHOUT_DISTINCT if session else _CALLS)
    # Flink asks a condition before it makes sessions, not behind.
    where = "" if session else choices.of(("", "", " WHERE i > 0", " WHERE NOT b"))
    having = choices.of(("", "", " HAVING COUNT(*) > 1"))
    items = _named([key, "window_start", "window_end", *calls])
    pattern = f"SELECT {items} FROM {{}} AS {alias}{where} GROUP BY {key}, window_start, window_end{having}"
    return Sql(pattern.format(flink), pattern.format(duck)), _columns([kind, "TIMESTAMP", "TIMESTAMP", *kinds])


def window_sets(choices: Choices, alias: str) -> Made:
    """Return the groups of windows by several keys in turn."""
    (flink, duck), _ = _windowed(choices, sessions=False)
    calls, kinds = _calls(choices, 1 + choices.below(2))
    sets = choices.of(("ROLLUP (k, b)", "CUBE (k, b)", "GROUPING SETS ((k, b), (b))"))
    items = _named(["k", "b", "window_start", "window_end", *calls])
    # Within a window Flink returns the group of all of its rows, too.
    pattern = f"SELECT {items} FROM {{}} AS {alias} GROUP BY window_start, window_end, {sets}"
    return Sql(pattern.format(flink), pattern.format(duck)), _columns(["INT", "BOOLEAN", "TIMESTAMP", "TIMESTAMP", *kinds])


def window_of_windows(choices: Choices, alias: str) -> Made:
    """Return groups of the groups of windows."""
    (flink, duck), _ = _windowed(choices, sessions=False)
    inner = f"SELECT window_start, window_end, k, COUNT(*) AS n, MAX(d) AS m FROM {{}} AS {alias} GROUP BY window_start, window_end, k"
    items = _named(["window_start", "window_end", "SUM(n)", "MIN(m)", "COUNT(k)"])
    pattern = f"SELECT {items} FROM ({inner}) AS {alias}o GROUP BY window_start, window_end"
    return Sql(pattern.format(flink), pattern.format(duck)), _columns(["TIMESTAMP", "TIMESTAMP", "BIGINT", "DOUBLE", "BIGINT"])


def window_top_n(choices: Choices, alias: str) -> Made:
    """Return the first rows, or groups, of each window."""
    (flink, duck), _ = _windowed(choices, sessions=False)
    group = "SELECT window_start, window_end, s, COUNT(*) AS n, MAX(rt) AS t FROM {} AS x GROUP BY window_start, window_end, s"
    rows = "SELECT window_start, window_end, s, i AS n, rt AS t FROM {} AS x"
    inner, last = choices.of((group, rows)), 1 + choices.below(3)
    by = choices.of(("", ", s"))
    number = f"ROW_NUMBER() OVER (PARTITION BY window_start, window_end{by} ORDER BY n{{}}, t{{}}, s{{}}) AS place"
    orders = [choices.of(("", " DESC", " DESC NULLS FIRST")) for _ in range(3)]
    duck_orders = [{"": " NULLS FIRST", " DESC": " DESC NULLS LAST"}.get(order, order) for order in orders]
    items = _named(["window_start", "s", "n", "t"])
    pattern = f"SELECT {items} FROM (SELECT *, {number} FROM ({{}}) AS {alias}i) AS {alias} WHERE place <= {last}"
    sql = Sql(pattern.format(*orders, inner.format(flink)), pattern.format(*duck_orders, inner.format(duck)))
    return sql, _columns(["TIMESTAMP", "STRING", "BIGINT", "TIMESTAMP"])


_LEGACY = {
    "TUMBLE(rt, INTERVAL '10' MINUTE)": "TUMBLE(TABLE {}, DESCRIPTOR(rt), INTERVAL '10' MINUTE)",
    "HOP(rt, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE)": "HOP(TABLE {}, DESCRIPTOR(rt), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE)",
    "SESSION(rt, INTERVAL '12' MINUTE)": "SESSION(TABLE {} PARTITION BY s, DESCRIPTOR(rt), INTERVAL '12' MINUTE)",
}


def legacy_windows(choices: Choices, alias: str) -> Made:
    """Return the groups of windows in GROUP BY."""
    table = choices.of(EVENTS)
    window, function = choices.of(list(_LEGACY.items()))
    name, _, arguments = window.partition("(")
    calls, kinds = _calls(choices, 1 + choices.below(2), _WITHOUT_DISTINCT)
    borders = [f"{name}_START({arguments}", f"{name}_END({arguments}"]
    flink = f"SELECT {_named(['s', *borders, *calls])} FROM {table} GROUP BY s, {window}"
    source = _WINDOWS[function].format(table)
    duck = f"SELECT {_named(['s', 'window_start', 'window_end', *calls])} FROM ({source}) AS {alias} GROUP BY s, window_start, window_end"
    return Sql(flink, duck), _columns(["STRING", "TIMESTAMP", "TIMESTAMP", *kinds])


def window_rows(choices: Choices, alias: str) -> Made:
    """Return rows with their windows. Rows of sessions are not supported: what is refused has its own tests."""
    (flink, duck), _ = _windowed(choices, sessions=False)
    pattern = f"SELECT {_named(['k', 'i', 's', 'window_start', 'window_end'])} FROM {{}} AS {alias}"
    return Sql(pattern.format(flink), pattern.format(duck)), _columns(["INT", "INT", "STRING", "TIMESTAMP", "TIMESTAMP"])


def window_join(choices: Choices, alias: str) -> Made:
    """Return pairs of rows of the same window, or rows by whether there is another one in it."""
    flink, duck = choices.of([item for item in _WINDOWS.items() if "SESSION" not in item[0]])
    key = choices.of(("k", "s", "dt"))
    kind = choices.of(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "EXISTS", "NOT EXISTS"))
    condition = f"x.window_start = y.window_start AND x.window_end = y.window_end AND x.{key} = y.{key}"
    condition += choices.of(("", "", " AND x.i < y.i")) if kind != "FULL JOIN" else ""
    sides = [Sql(f"(SELECT * FROM TABLE({flink.format(table)}))", f"({duck.format(table)})") for table in EVENTS]
    if kind.endswith("EXISTS"):
        pattern = f"SELECT {_named(['x.k', 'x.i', 'x.window_start'])} FROM {{}} AS x"
        pattern += f" WHERE {kind} (SELECT 1 FROM {{}} AS y WHERE {condition})"
        return both(pattern, *sides), _columns(["INT", "INT", "TIMESTAMP"])
    pattern = f"SELECT {_named(['x.k', 'x.window_end', 'y.i', 'y.s'])} FROM {{}} AS x {kind} {{}} AS y ON {condition}"
    return both(pattern, *sides), _columns(["INT", "TIMESTAMP", "INT", "STRING"])


def interval_join(choices: Choices, alias: str) -> Made:
    """Return pairs of rows whose times are near."""
    kind = choices.of(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    key = choices.of(("k", "s", "dt"))
    low, high = choices.of(((10, 10), (0, 20), (60, -5), (5, 0)))
    text = f"SELECT {_named(['x.k', 'x.rt', 'y.i', 'y.rt'])} FROM e AS x {kind} f AS y ON x.{key} = y.{key}"
    text += f" AND x.rt BETWEEN y.rt - INTERVAL '{low}' MINUTE AND y.rt + INTERVAL '{high}' MINUTE"
    text += choices.of(("", "", " AND x.i < y.i"))
    return same(text), _columns(["INT", "TIMESTAMP", "INT", "TIMESTAMP"])


def one_of_each(choices: Choices, alias: str) -> Made:
    """Return the first or last row of each key."""
    order = choices.of(("rt", "rt DESC"))
    key = choices.of(("k", "s", "dt", "k, b"))
    inner = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {order}) AS rn FROM {choices.of(EVENTS)}"
    text = f"SELECT {_named(['k', 'i', 's', 'rt'])} FROM ({inner}) AS {alias} WHERE rn = 1"
    return same(text), _columns(["INT", "INT", "STRING", "TIMESTAMP"])


TIME_QUERIES: tuple[tuple[str, Callable[[Choices, str], Made]], ...] = (
    ("over", over),
    ("window groups", window_groups),
    ("window sets", window_sets),
    ("window of windows", window_of_windows),
    ("window top-n", window_top_n),
    ("legacy windows", legacy_windows),
    ("window rows", window_rows),
    ("window join", window_join),
    ("interval join", interval_join),
    ("one of each", one_of_each),
)
