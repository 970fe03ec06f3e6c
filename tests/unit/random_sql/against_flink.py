"""Compares random streaming queries with what real Flink returned: ``python -m tests.unit.random_sql.against_flink RECORDED...``.

Prints what differs, and how many were equal. The files are those of ``tests/differential/record_random_queries.py``.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.differential.record_random_queries import left, statements, text_of
from wiesel.common import Configuration
from wiesel.core.errors import WieselError
from wiesel.table import TableEnvironment

__all__ = ["cases", "differences"]


def cases(*paths: Path | str) -> Iterator[dict[str, Any]]:
    """Yield the recorded cases of files."""
    for path in paths:
        yield from map(json.loads, Path(path).read_text().splitlines())


def differences(case: dict[str, Any], parallelism: int, seen: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield the queries of a case that differ, and how; count in ``seen`` how they went."""
    config = Configuration().set("wiesel.engine", "local").set("table.local-time-zone", "UTC").set("wiesel.local.seed", str(case["seed"]))
    t_env = TableEnvironment.create(config.set("parallelism.default", str(parallelism)))
    with tempfile.TemporaryDirectory() as folder:
        for statement in statements(case, Path(folder)):
            t_env.execute_sql(statement)
        for query, golden in case["queries"].items():
            if "fails" in golden:
                seen["refused by Flink"] += 1
                continue
            problem = _problem(t_env, query, golden)
            seen["equal" if problem is None else "different"] += 1
            if problem is not None:
                yield query, problem


def _problem(t_env: TableEnvironment, query: str, golden: dict[str, Any]) -> str | None:
    """Return how the result differs from Flink's; None if it does not."""
    try:
        result = t_env.execute_sql(query)
        types = [column.data_type.as_summary_string() for column in result.get_resolved_schema().columns]
        with result.collect() as rows:
            found = left([(str(row.get_row_kind()), tuple(map(text_of, row))) for row in rows])
    except (WieselError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    if _plain(types) != _plain(golden["types"]):
        return f"types {types}, in Flink {golden['types']}"
    if len(found) == len(golden["rows"]) and all(map(_are_near, found, golden["rows"])):
        return None
    missing = Counter(map(tuple, golden["rows"])) - Counter(map(tuple, found))
    more = Counter(map(tuple, found)) - Counter(map(tuple, golden["rows"]))
    return f"missing {[*missing.elements()][:4]}, not expected {[*more.elements()][:4]}"


def _are_near(one: list[str | None], other: list[str | None]) -> bool:
    return all(map(_is_near, one, other))


def _is_near(one: str | None, other: str | None) -> bool:
    """Return whether two values are equal, numbers to nine digits: in which order they were added up may differ."""
    if one == other or one is None or other is None:
        return one == other
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-9)
    except ValueError:
        return False


def _plain(types: list[str]) -> list[str]:
    return [each.removesuffix(" *ROWTIME*").removesuffix(" NOT NULL") for each in types]


if __name__ == "__main__":
    counted: Counter[str] = Counter()
    for each in cases(*sys.argv[1:]):
        for text, why in differences(each, 1 + each["seed"] % 3, counted):
            print(f"seed {each['seed']}: {why}\n    {text}\n", flush=True)
    print(dict(counted))
