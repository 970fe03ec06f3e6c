"""Loops and rounds on real Spark, whole and with a failure in their midst that finds a checkpoint."""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import networkx
import pytest

from tests.unit.examples.test_iterations import changes_by_round, edges_of, load
from wiesel.common import Configuration
from wiesel.datastream import MapFunction, StreamExecutionEnvironment
from wiesel.iteration import iterate_bulk, rounds_of


def environment(parallelism: int, checkpoints: Path | None = None) -> StreamExecutionEnvironment:
    options = {"wiesel.engine": "spark"}
    if checkpoints is not None:
        options |= {
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": str(checkpoints),
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1",
            "restart-strategy.fixed-delay.delay": "0 s",
        }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    return env.set_parallelism(parallelism)


class FailWithACheckpoint(MapFunction):
    """Lets records pass until a checkpoint is complete, then fails or kills its process, in the first attempt only."""

    def __init__(self, checkpoints: Path, *, killed: bool = False) -> None:
        self.checkpoints = str(checkpoints)
        self.killed = killed

    def open(self, runtime_context: Any) -> None:
        self.fails = runtime_context.get_attempt_number() == 0

    def map(self, value: Any) -> Any:
        if self.fails and any(Path(self.checkpoints).glob("*/chk-*/_metadata")):
            (Path(self.checkpoints) / "failed").touch()
            if self.killed:
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("the failure in the midst of the iteration")
        return value


@pytest.mark.parametrize(("parallelism", "killed"), [(1, False), (2, True)])
def test_a_streaming_loop_ends_and_survives_a_failure(parallelism: int, killed: bool, tmp_path: Path) -> None:
    failed = tmp_path / "failed"

    def less(record: tuple[int, int]) -> tuple[int, int]:
        # Until the failure has come everybody goes round and round in the midst of the way.
        return record if record[1] == 10 and not failed.exists() else (record[0], record[1] - 1)

    env = environment(parallelism, tmp_path)
    loop = env.from_collection([(n, 20) for n in range(50)]).iterate()
    moved = loop.rebalance().map(FailWithACheckpoint(tmp_path, killed=killed)).map(less)
    loop.close_with(moved.filter(lambda r: r[1] > 0))
    left = moved.filter(lambda r: r[1] == 0).map(lambda r: r[0])
    assert Counter(left.execute_and_collect()) == Counter(range(50))
    assert failed.exists()


def test_rounds_end_and_survive_a_failure(tmp_path: Path) -> None:
    failed = tmp_path / "failed"
    env = environment(2, tmp_path)
    numbers = env.from_collection([(n, float(n)) for n in range(1, 20)])
    # Newton's method: once at the root a number stays there, so more rounds make no difference.
    roots = iterate_bulk(
        numbers,
        lambda now: now.rebalance().map(FailWithACheckpoint(tmp_path)).map(lambda r: (r[0], (r[1] + r[0] / r[1]) / 2)),
        converged=lambda number, _: number >= 10 and failed.exists(),
    )
    assert dict(roots.execute_and_collect()) == pytest.approx({n: n**0.5 for n in range(1, 20)})
    assert failed.exists()


def test_components_of_a_real_graph_with_less_and_less_work() -> None:
    graph = networkx.les_miserables_graph()
    graph.remove_nodes_from(["Valjean", "Gavroche", "Marius", "Javert", "Thenardier", "Fantine", "Enjolras", "Courfeyrac"])
    env = environment(2)
    labels = load("karate_club.py")["components"](env.from_collection(sorted(graph)), env.from_collection(edges_of(graph)))
    labels.map(lambda label: label).print()
    with redirect_stdout(StringIO()) as printed:
        result = env.execute()
    expected = Counter(str((v, min(group))) for group in networkx.connected_components(graph) for v in group)
    assert Counter(line.partition("> ")[2] for line in printed.getvalue().splitlines()) == expected
    assert [r.records for r in rounds_of(result)] == changes_by_round(graph)
