"""The examples in SQL beside what else can tell their results: a program, a count by hand, the load of subtasks."""

from __future__ import annotations

import importlib.util
import json
import random
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from wiesel.common import Configuration
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.sql.language.parser import parse_script
from wiesel.table import TableEnvironment, TableResult

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "sql"


def environment(parallelism: int, mode: str = "STREAMING") -> Configuration:
    return Configuration.from_dict(
        {"wiesel.engine": "local", "parallelism.default": str(parallelism), "execution.runtime-mode": mode, "table.local-time-zone": "UTC"}
    )


def session(name: str, path: Path, parallelism: int, mode: str = "STREAMING") -> TableEnvironment:
    """Run the statements of an example whose table is read from a folder."""
    t_env = TableEnvironment.create(environment(parallelism, mode))
    text = (EXAMPLES / name).read_text()
    for statement in parse_script(text):
        part = text[statement.span.start : statement.span.end]
        t_env.execute_sql(part.replace("'path' = '", f"'path' = '{path.parent}/"))
    return t_env


def final(result: TableResult) -> Counter[tuple[str, ...]]:
    rows: Counter[tuple[str, ...]] = Counter()
    for kind, *row in result.text_rows():
        rows[tuple(row)] += 1 if kind in ("+I", "+U") else -1
    return +rows


def write(path: Path, rows: list[dict[str, Any]], files: int = 1) -> None:
    path.mkdir()
    for place in range(files):
        (path / f"{place}.json").write_text("".join(json.dumps(row) + "\n" for row in rows[place::files]))


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_sql_and_program_count_the_same_views(tmp_path: Path, mode: str) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    # No view is more than five seconds late, so that none is left out wherever the watermarks stand.
    times = sorted(chance.randrange(600_000) for _ in range(2_000))
    arrivals = sorted(times, key=lambda at: at + chance.randrange(4_900))
    rows = [{"page": chance.choice(["/", "/prices", "/jobs"]), "at_ms": at} for at in arrivals]
    write(tmp_path / "views", rows)
    by_sql = final(session("views_per_minute.sql", tmp_path / "views", 1, mode).execute_sql("SELECT * FROM per_minute"))
    views = program("views_per_minute")
    env = StreamExecutionEnvironment.get_execution_environment(environment(1, mode))
    by_program = Counter(
        tuple(map(str, row)) for row in views.per_minute(views.views(env, str(tmp_path / "views"))).execute_and_collect()
    )
    by_hand = Counter((row["page"], row["at_ms"] // 60_000 * 60) for row in rows)
    assert by_sql == by_program == Counter({(page, str(minute), str(count)): 1 for (page, minute), count in by_hand.items()})


def test_salted_totals_are_right_and_the_load_is_even(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    rows = [{"id": n, "item": "tea" if chance.random() < 0.98 else f"item {n % 20}", "amount": n % 7} for n in range(4_000)]
    write(tmp_path / "orders", rows, files=4)
    t_env = session("salted_totals.sql", tmp_path / "orders", 4)
    counts = Counter(str(row["item"]) for row in rows)
    sums: Counter[str] = Counter()
    for row in rows:
        sums[str(row["item"])] += int(row["amount"])
    expected = Counter({(item, str(count), str(sums[item])): 1 for item, count in counts.items()})
    plain = "SELECT item, COUNT(*) AS orders, SUM(amount) AS amount FROM orders GROUP BY item"
    assert final(t_env.execute_sql("SELECT * FROM totals")) == final(t_env.execute_sql(plain)) == expected
    t_env.execute_sql("SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE'")  # in two, each task sends a row per item
    assert max(shares(t_env, plain)) > 0.9
    assert max(shares(t_env, "SELECT item, salt, orders, amount FROM parts")) < 0.5  # a quarter would be perfect


def shares(t_env: TableEnvironment, query: str) -> list[float]:
    """Return which share of the rows each subtask behind the exchange got."""
    result = t_env.execute_sql(query)
    list(result.text_rows())
    client = result.get_job_client()
    assert client is not None
    tasks = client.get_job_metrics().result()["tasks"]
    group = [int(task["metrics"]["numRecordsIn"]) for task in tasks if "GroupAggregate" in task["name"]]
    assert len(group) == 4 and sum(group) >= 4_000
    return [count / sum(group) for count in group]
