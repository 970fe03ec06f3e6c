"""An enumerator that raises restarts the tasks of its source, whatever it was called for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from wiesel.common import Types, WatermarkStrategy
from wiesel.connectors.index_ranges import IndexRangeEnumerator
from wiesel.connectors.number_sequence import NumberSequenceSource
from wiesel.core.errors import CheckpointError, ConnectorError
from wiesel.testing import ManualSource

LAST = 2_000
FAILURES: dict[str, int] = {}
"""How often calls of the enumerators are still to fail, by name."""


class Failing(IndexRangeEnumerator):
    def _may_fail(self, call: str) -> None:
        if FAILURES.get(call, 0) > 0:
            FAILURES[call] -= 1
            raise ConnectorError(f"no answer in {call}")

    def add_reader(self, subtask: int) -> None:
        if subtask == 1:
            self._may_fail("add_reader")
        super().add_reader(subtask)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        self._may_fail("snapshot_state")
        return super().snapshot_state(checkpoint_id)

    def handle_split_request(self, subtask: int) -> None:
        self._may_fail("handle_split_request")
        super().handle_split_request(subtask)


class Numbers(NumberSequenceSource):
    def create_enumerator(self, context: Any, state: Any = None) -> Any:
        made = super().create_enumerator(context, state)
        made.__class__ = Failing
        return made


def job_with(failing: dict[str, int], directory: Path, numbers: ManualSource) -> tuple[StoredJob, Any]:
    FAILURES.clear()
    FAILURES.update(failing)
    restarts = {"type": "fixed-delay", "fixed__delay_attempts": "3", "fixed__delay_delay": "0 ms"}
    env = environment(directory, 2, **{f"restart__strategy_{key}": value for key, value in restarts.items()})
    others = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "others", Types.LONG())
    stream = env.from_source(Numbers(1, LAST), WatermarkStrategy.no_watermarks(), "numbers").union(others)
    results = env.collect(stream.map(lambda number: number, Types.LONG()))
    return start(env), results


@pytest.mark.parametrize("call", ["add_reader", "handle_split_request", "snapshot_state"])
def test_a_job_recovers_from_an_enumerator_that_raises(call: str, tmp_path: Path) -> None:
    job, results = job_with({call: 2}, tmp_path, ManualSource())
    with job:
        job.finish()
        assert job.restarts == 2 and FAILURES[call] == 0
        assert all(f"no answer in {call}" in str(failure) and "source 'Source: numbers'" in str(failure) for failure in job.master.failures)
        assert sorted(results.values) == list(range(1, LAST + 1))


def test_a_savepoint_without_the_state_of_an_enumerator_fails_and_the_job_goes_on(tmp_path: Path) -> None:
    numbers = ManualSource(type_info=Types.LONG())
    job, results = job_with({}, tmp_path / "checkpoints", numbers)
    with job:
        numbers.push(5_000)
        FAILURES["snapshot_state"] = 1
        with pytest.raises(CheckpointError, match="no answer in snapshot_state"):
            job.savepoint(tmp_path / "savepoints")
        job.savepoint(tmp_path / "savepoints")
        job.finish()
        assert sorted(results.values) == [*range(1, LAST + 1), 5_000]
