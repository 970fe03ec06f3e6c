"""-0.0 and 0.0 are one value wherever values are found to be equal."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.sql_cases.test_cases import final_rows
from wiesel.common import Configuration
from wiesel.table import TableEnvironment

ROWS = [(1, -0.0, -0.0), (2, 0.0, 1.0), (3, -0.0, 0.0), (4, 1.0, 0.0), (5, 0.0, -0.0)]
RESULTS = {
    "SELECT COUNT(*) FROM z GROUP BY d": ["4", "1"],
    "SELECT COUNT(*) FROM z GROUP BY d, e": ["3", "1", "1"],
    "SELECT COUNT(*) FROM (SELECT DISTINCT d, e FROM z)": ["3"],
    "SELECT COUNT(DISTINCT d) FROM z": ["2"],
    "SELECT COUNT(DISTINCT d) FROM z GROUP BY e": ["2", "1"],
    "SELECT COUNT(*) FROM z AS a JOIN z AS b ON a.d = b.d": ["17"],
    "SELECT COUNT(*) FROM z AS a LEFT JOIN z AS b ON a.d = b.e AND a.id <> b.id": ["14"],
    "SELECT id FROM z WHERE d IN (SELECT e FROM z WHERE id = 1)": ["1", "2", "3", "5"],
    "SELECT id FROM z WHERE NOT EXISTS (SELECT 1 FROM z AS b WHERE b.e = z.d AND b.id = 1)": ["4"],
    "SELECT COUNT(*) FROM (SELECT d FROM z INTERSECT SELECT e FROM z)": ["2"],
    "SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY d ORDER BY id) AS n FROM z) WHERE n = 2": ["2"],
    "SELECT COUNT(*) FROM z GROUP BY ROW(d, e)": ["3", "1", "1"],
    "SELECT COUNT(*) FROM (SELECT DISTINCT ARRAY[d], ROW(e) FROM z)": ["3"],
    "SELECT COUNT(DISTINCT ARRAY[d]) FROM z": ["2"],
    "SELECT COUNT(*) FROM z AS a JOIN z AS b ON ROW(a.d) = ROW(b.d)": ["17"],
    "SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY ROW(d) ORDER BY id) AS n FROM z) WHERE n = 2": ["2"],
}
IN_BATCH = {
    "SELECT COUNT(*) OVER (PARTITION BY d) FROM z": ["4", "4", "4", "4", "1"],
    "SELECT RANK() OVER (ORDER BY d) FROM z": ["1", "1", "1", "1", "5"],
}


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize(
    ("query", "mode"),
    [(query, mode) for query in RESULTS for mode in ("BATCH", "STREAMING")] + [(query, "BATCH") for query in IN_BATCH],
)
def test_there_is_one_zero(query: str, mode: str, parallelism: int) -> None:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", mode)
    t_env = TableEnvironment.create(config.set("parallelism.default", str(parallelism)))
    t_env.create_temporary_view("z", t_env.from_elements(ROWS, ["id", "d", "e"]))
    found = final_rows(list(t_env.execute_sql(query).text_rows()))
    assert found == Counter((each,) for each in (RESULTS | IN_BATCH)[query])
