"""Queries whose changelogs are compared row by row with those of real Flink, and the changes that they read.

What real Flink made of them, at parallelism 1 and without mini-batches, is in ``goldens/changelogs.json``
(``record_changelogs.py``). An input is a list of changes ``(kind, values)``; a query reads it as the table ``t``. The input of joins has a
column ``side``: the views ``l`` and ``r`` have the rows of each, so that it is known in which order the rows of both sides come.
"""

from __future__ import annotations

import random
from typing import Any

Change = tuple[str, tuple[Any, ...]]

COLUMNS = (("id", "INT"), ("k", "STRING"), ("v", "INT"), ("d", "DOUBLE"), ("s", "STRING"))
SIDED = (("side", "STRING"), *COLUMNS)

_KEYS = ("a", "b", "c", None)


def _row(draw: random.Random, number: int) -> tuple[Any, ...]:
    value = draw.choice((None, 1, 2, 3, 4, 5, 6, 7))
    return (number, draw.choice(_KEYS), value, draw.choice((None, 0.5, 1.5, -2.25)), draw.choice(("x", "y", "zz", None)))


def appended(seed: int, count: int = 36) -> list[Change]:
    """New rows."""
    draw = random.Random(seed)
    return [("+I", _row(draw, number)) for number in range(count)]


def changed(seed: int, count: int = 30) -> list[Change]:
    """New rows, updates and deletions; there are never two equal rows at once, as each has its own number."""
    draw = random.Random(seed)
    found: list[Change] = []
    lives: list[tuple[Any, ...]] = []
    for number in range(count):
        what = draw.random()
        if not lives or what < 0.5:
            lives.append(_row(draw, number))
            found.append(("+I", lives[-1]))
        elif what < 0.8:
            place = draw.randrange(len(lives))
            old = lives[place]
            lives[place] = new = (old[0], *_row(draw, number)[1:])
            found += [("-U", old), ("+U", new)]
        else:
            found.append(("-D", lives.pop(draw.randrange(len(lives)))))
    return found


def sided(left: list[Change], right: list[Change], seed: int) -> list[Change]:
    """The changes of two sides, in turns of one to three; both rows of an update stay together."""
    draw = random.Random(seed)
    waiting = {"L": list(left), "R": list(right)}
    found: list[Change] = []
    while waiting["L"] or waiting["R"]:
        side = draw.choice([each for each in waiting if waiting[each]])
        mine = waiting[side]
        for _ in range(draw.randint(1, 3)):
            if mine:
                many = 2 if mine[0][0] == "-U" else 1
                found += [(kind, (side, *values)) for kind, values in mine[:many]]
                del mine[:many]
    return found


INPUTS: dict[str, list[Change]] = {
    "new": appended(1),
    "new2": appended(2),
    "changes": changed(3),
    "changes2": changed(4),
    "joined": sided(appended(5, 14), appended(6, 14), 7),
    "joined_changes": sided(changed(8, 16), changed(9, 16), 10),
}

_AGGREGATES = {
    "count_sum": "SELECT k, COUNT(*) n, COUNT(v) m, SUM(v) s FROM t GROUP BY k",
    "min_max": "SELECT k, MIN(v) lo, MAX(v) hi, MAX(s) hs FROM t GROUP BY k",
    "average": "SELECT k, AVG(v) a, AVG(d) b FROM t GROUP BY k",
    "distinct_count": "SELECT k, COUNT(DISTINCT v) n, SUM(DISTINCT v) s FROM t GROUP BY k",
    "distinct_filter": "SELECT k, COUNT(DISTINCT v) FILTER (WHERE v > 2) n, COUNT(DISTINCT v) m FROM t GROUP BY k",
    "filters": "SELECT k, COUNT(*) FILTER (WHERE v > 3) n, SUM(v) FILTER (WHERE s = 'x') q, MAX(v) FILTER (WHERE v < 5) x "
    "FROM t GROUP BY k",
    "in_all": "SELECT COUNT(*) n, SUM(v) s, COUNT(DISTINCT k) m FROM t",
    "distinct_max": "SELECT k, MAX(DISTINCT v) x, MIN(DISTINCT d) y FROM t GROUP BY k",
    "listed": "SELECT k, LISTAGG(s) a, LISTAGG(s, '-') b FROM t GROUP BY k",
    "first_last": "SELECT k, FIRST_VALUE(v) f, LAST_VALUE(v) l FROM t GROUP BY k",
    "arrays": "SELECT k, CAST(ARRAY_AGG(v) AS STRING) a FROM t GROUP BY k",
    "collected": "SELECT k, COLLECT(s) n FROM t GROUP BY k",
    "json": "SELECT k, JSON_ARRAYAGG(s) j FROM t GROUP BY k",
    "two_keys": "SELECT k, s, COUNT(*) n, SUM(v) q FROM t GROUP BY k, s",
    "expression_key": "SELECT v / 2 h, COUNT(*) n FROM t GROUP BY v / 2",
    "having": "SELECT k, SUM(v) q FROM t GROUP BY k HAVING SUM(v) > 8",
    "same_result": "SELECT k, MAX(v) > 3 big FROM t GROUP BY k",
    "of_groups": "SELECT n, COUNT(*) m FROM (SELECT k, COUNT(*) n FROM t GROUP BY k) GROUP BY n",
    "max_of_groups": "SELECT MAX(q) x, MIN(q) y, SUM(q) z FROM (SELECT k, s, SUM(v) q FROM t GROUP BY k, s)",
    "grouping_sets": "SELECT k, s, COUNT(*) n FROM t GROUP BY GROUPING SETS ((k), (s), ())",
    "where": "SELECT k, COUNT(*) n FROM t WHERE v > 2 GROUP BY k",
}

_SETS = {
    "distinct": "SELECT DISTINCT k, v FROM t",
    "distinct_of_filtered": "SELECT DISTINCT s FROM t WHERE v > 2",
}

_NUMBERED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) rn FROM t"
_COUNTS_IN_ORDER = "SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, k) rn FROM (SELECT k, COUNT(*) n FROM t GROUP BY k)"
_PROCTIME = "SELECT id, k, v, PROCTIME() p FROM t"
_TOPS = {
    "top_numbered": f"SELECT id, k, v, rn FROM ({_NUMBERED.format(order='v')}) WHERE rn <= 3",
    "top_plain": f"SELECT id, k, v FROM ({_NUMBERED.format(order='v DESC')}) WHERE rn <= 3",
    "top_one": f"SELECT id, k, v FROM ({_NUMBERED.format(order='v DESC')}) WHERE rn = 1",
    "top_one_numbered": f"SELECT id, k, v, rn FROM ({_NUMBERED.format(order='v')}) WHERE rn <= 1",
    "top_two_orders": f"SELECT id, k, v, rn FROM ({_NUMBERED.format(order='s, v DESC')}) WHERE rn <= 2",
    "top_of_groups": f"SELECT k, n, rn FROM ({_COUNTS_IN_ORDER}) WHERE rn <= 2",
    "top_of_groups_plain": f"SELECT k, n FROM ({_COUNTS_IN_ORDER}) WHERE rn <= 2",
    "top_group": f"SELECT k, n FROM ({_COUNTS_IN_ORDER}) WHERE rn = 1",
    "ordered_limit": "SELECT id, v FROM t ORDER BY v DESC, id LIMIT 4",
    "limit": "SELECT id, k FROM t LIMIT 5",
    "last_by_number": f"SELECT id, k, v FROM ({_NUMBERED.format(order='id DESC')}) WHERE rn = 1",
}

# Behind an OFFSET Flink keeps rows with the kind of change that it has emitted for them, and does not find them again.
_BEHIND = {
    "top_behind": f"SELECT id, k, v FROM ({_NUMBERED.format(order='v')}) WHERE rn > 1 AND rn <= 3",
    "groups_behind": f"SELECT k, n FROM ({_COUNTS_IN_ORDER}) WHERE rn BETWEEN 2 AND 3",
    "ordered_offset": "SELECT id, v FROM t ORDER BY v DESC, id LIMIT 3 OFFSET 1",
}

# By processing time, which a row that is taken back would have to have again.
_BY_CLOCK = {
    "kept_first": f"SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) rn FROM ({_PROCTIME})) WHERE rn = 1",
    "kept_last": f"SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p DESC) rn FROM ({_PROCTIME})) WHERE rn = 1",
}

_OVERS = {
    "over_sum": "SELECT id, k, v, SUM(v) OVER (PARTITION BY k ORDER BY id) q FROM t",
    "over_value": "SELECT id, k, v, SUM(v) OVER (PARTITION BY k ORDER BY v) q FROM t",
    "over_rows": "SELECT id, k, v, COUNT(*) OVER (PARTITION BY k ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) q FROM t",
}

_IN_TIME = {
    "over_time": f"SELECT id, k, v, SUM(v) OVER (PARTITION BY k ORDER BY p) q FROM ({_PROCTIME})",
}

_ON = "FROM l {kind} JOIN r ON l.k = r.k"
_JOINS = {
    "inner": f"SELECT l.id, l.k, r.id i2 {_ON.format(kind='')}",
    "left": f"SELECT l.id, l.k, r.id i2, r.v {_ON.format(kind='LEFT')}",
    "right": f"SELECT l.id, l.k, r.id i2, r.v {_ON.format(kind='RIGHT')}",
    "full": f"SELECT l.id, l.k, r.id i2, r.v {_ON.format(kind='FULL')}",
    "inner_condition": f"SELECT l.id, l.v, r.id i2, r.v w {_ON.format(kind='')} AND l.v < r.v",
    "left_condition": f"SELECT l.id, l.v, r.id i2, r.v w {_ON.format(kind='LEFT')} AND l.v < r.v",
    "full_condition": f"SELECT l.id, l.v, r.id i2, r.v w {_ON.format(kind='FULL')} AND l.v < r.v",
    "semi": "SELECT id, k, v FROM l WHERE k IN (SELECT k FROM r)",
    "anti": "SELECT id, k, v FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k)",
    "semi_condition": "SELECT id, k, v FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.v > l.v)",
    "anti_condition": "SELECT id, k, v FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.v > l.v)",
    "not_in": "SELECT id, k, v FROM l WHERE k NOT IN (SELECT k FROM r WHERE k IS NOT NULL)",
    "cross": "SELECT l.id, r.id i2 FROM l, r WHERE l.v = 1 AND r.v = 2",
    "joined_counts": f"SELECT l.k, COUNT(*) n, COUNT(r.v) q {_ON.format(kind='LEFT')} GROUP BY l.k",
    "join_of_counts": "SELECT a.k, a.n, b.n m FROM (SELECT k, COUNT(*) n FROM l GROUP BY k) a "
    "LEFT JOIN (SELECT k, COUNT(*) n FROM r GROUP BY k) b ON a.k = b.k",
    "full_join_of_counts": "SELECT a.k, a.n, b.k k2, b.n m FROM (SELECT k, COUNT(*) n FROM l GROUP BY k) a "
    "FULL JOIN (SELECT k, COUNT(*) n FROM r GROUP BY k) b ON a.k = b.k",
    "union": "SELECT k FROM l WHERE v > 2 UNION SELECT s FROM r",
    "union_all": "SELECT k, v FROM l UNION ALL SELECT s, v FROM r",
    "counted_union": "SELECT k, COUNT(*) n FROM (SELECT k FROM l UNION ALL SELECT k FROM r) GROUP BY k",
    "intersect": "SELECT k FROM l INTERSECT SELECT k FROM r",
    "except": "SELECT k FROM l EXCEPT SELECT k FROM r",
    "intersect_all": "SELECT k FROM l INTERSECT ALL SELECT k FROM r",
    "except_all": "SELECT k FROM l EXCEPT ALL SELECT k FROM r",
    "correlated_scalar": "SELECT id, k, v, (SELECT MAX(v) FROM r WHERE r.k = l.k) x FROM l",
}

_ALONE = {**_AGGREGATES, **_SETS, **_TOPS, **_OVERS}
_OF_NEW_ROWS = {**_BEHIND, **_BY_CLOCK, **_IN_TIME}

CASES: dict[str, tuple[str, str]] = {
    **{f"{name}/{given}": (given, sql) for name, sql in _ALONE.items() for given in ("new", "new2", "changes", "changes2")},
    **{f"{name}/{given}": (given, sql) for name, sql in _OF_NEW_ROWS.items() for given in ("new", "new2")},
    **{f"{name}/{given}": (given, sql) for name, sql in _JOINS.items() for given in ("joined", "joined_changes")},
}
"""By the name and the input: the input and the query."""

# Flink takes equal rows of INTERSECT together behind the join, here they are before it: the same rows come and go, with other kinds.
del CASES["intersect/joined_changes"]
