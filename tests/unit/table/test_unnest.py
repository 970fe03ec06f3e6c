"""UNNEST: elements beside the rows that have them."""

from __future__ import annotations

import pytest

from tests.unit.table.join_cases import Database
from wiesel.core.errors import SqlParseError

_ARRAYS = """(SELECT id, CASE WHEN id < 3 THEN vs END AS vs
    FROM (VALUES (1, ARRAY[5, 6]), (2, ARRAY[7]), (3, ARRAY[8])) AS w (id, vs)) AS m"""


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (f"SELECT id, v FROM {_ARRAYS} CROSS JOIN UNNEST(vs) AS t (v)", [(1, 5), (1, 6), (2, 7)]),
        (f"SELECT id, v FROM {_ARRAYS}, UNNEST(m.vs) AS t (v) WHERE t.v <> 6", [(1, 5), (2, 7)]),
        (f"SELECT id, v FROM {_ARRAYS} JOIN UNNEST(vs) AS t (v) ON v > 5", [(1, 6), (2, 7)]),
        (f"SELECT id, v FROM {_ARRAYS} LEFT JOIN UNNEST(vs) AS t (v) ON TRUE", [(1, 5), (1, 6), (2, 7), (3, None)]),
        (f"SELECT id, v, n FROM {_ARRAYS} CROSS JOIN UNNEST(vs) WITH ORDINALITY AS t (v, n)", [(1, 5, 1), (1, 6, 2), (2, 7, 1)]),
        (
            "SELECT id, k, v FROM (VALUES (1, MAP['a', 1, 'b', 2]), (2, MAP['c', 3])) AS m (id, vs), UNNEST(m.vs) AS t (k, v)",
            [(1, "a", 1), (1, "b", 2), (2, "c", 3)],
        ),
        (
            "SELECT id, a, b FROM (VALUES (1, ARRAY[ROW(1, 'x'), ROW(2, 'y')])) AS m (id, rs) CROSS JOIN UNNEST(rs) AS t (a, b)",
            [(1, 1, "x"), (1, 2, "y")],
        ),
        ("SELECT x + 1 FROM UNNEST(ARRAY[1, 2, 3]) AS t (x) WHERE x <> 2", [(2,), (4,)]),
    ],
)
def test_elements_come_beside_their_rows(query: str, rows: list[tuple[object, ...]], mode: str) -> None:
    assert [tuple(row) for row in Database(mode=mode).changes(query)] == rows


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM orders CROSS JOIN UNNEST(id) AS t (v)", "takes an ARRAY, a MULTISET or a MAP, this is INT"),
        (f"SELECT * FROM {_ARRAYS} RIGHT JOIN UNNEST(vs) AS t (v) ON TRUE", "a RIGHT JOIN cannot have UNNEST"),
        (f"SELECT * FROM {_ARRAYS} LEFT JOIN UNNEST(vs) AS t (v) ON v > 5", "needs the condition TRUE"),
        (f"SELECT * FROM {_ARRAYS} CROSS JOIN UNNEST(vs) AS m (v)", "there are two tables `m`"),
    ],
)
def test_what_cannot_be_taken_apart_is_refused(query: str, message: str) -> None:
    with pytest.raises(SqlParseError, match=message):
        Database().t_env.sql_query(query)
