"""Which programs may take unaligned checkpoints, and which may go on from one."""

from __future__ import annotations

from typing import Any

import pytest

from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.core.errors import ProgramError, StateMigrationError
from wiesel.datastream import ReduceFunction, StreamExecutionEnvironment
from wiesel.testing import JobSnapshot, ManualSource, local_environment

UNALIGNED = {"execution.checkpointing.unaligned.enabled": "true"}
FORCED = {"execution.checkpointing.unaligned.forced": "true"}
AT_LEAST_ONCE = {"execution.checkpointing.mode": "AT_LEAST_ONCE"}


class Larger(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return max(value1, value2)


def custom(config: dict[str, str]) -> list[int]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local", **config}))
    env.set_parallelism(2)
    numbers = env.from_collection(list(range(20)), Types.INT())
    with numbers.partition_custom(lambda key, n: key % n, lambda v: v).filter(lambda v: True).execute_and_collect() as results:
        return sorted(results)


def test_a_custom_partitioner_is_refused_unless_somebody_insists() -> None:
    with pytest.raises(ProgramError, match=r"partition_custom .* does not go with unaligned checkpoints"):
        custom(UNALIGNED)
    for config in ({}, UNALIGNED | FORCED, UNALIGNED | AT_LEAST_ONCE):
        assert custom(config) == list(range(20))


def test_an_iteration_is_refused() -> None:
    config = Configuration.from_dict({"wiesel.engine": "local", **UNALIGNED})
    env = StreamExecutionEnvironment.get_execution_environment(config)
    loop = env.from_collection([5], Types.INT()).iterate()
    lowered = loop.map(lambda v: v - 1)
    loop.close_with(lowered.filter(lambda v: v > 0))
    lowered.print()
    with pytest.raises(ProgramError, match=r"the iteration at .* does not go with unaligned checkpoints"):
        env.execute()


def program(parallelism: int, partitioning: str) -> tuple[Any, ManualSource, Any]:
    env = local_environment(parallelism=parallelism, seed=4, config={**UNALIGNED, **FORCED})
    env.set_max_parallelism(8)
    source = ManualSource()
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers").set_parallelism(1)
    if partitioning == "custom":
        last = numbers.partition_custom(lambda key, n: key % n, lambda v: v).filter(lambda v: True).uid("last")
    elif partitioning == "key":
        last = numbers.key_by(lambda v: v % 5).reduce(Larger()).uid("last")
    elif partitioning == "rebalance":
        last = numbers.rebalance().filter(lambda v: True).uid("last")
    else:
        last = numbers.filter(lambda v: True).set_parallelism(1).uid("last")
    return env, source, env.collect(last)


def with_records_on_their_way(partitioning: str) -> tuple[JobSnapshot, list[int]]:
    """Return a checkpoint of a job with records on their way, and what had come out when it was taken."""
    env, source, out = program(2, partitioning)
    with env.start() as job:
        source.push_all(range(300))
        job.step(9)
        snapshot = job.checkpoint()
        assert any(o.in_flight is not None for t in snapshot.checkpoint.tasks.values() for o in t.operators.values())
        return snapshot, sorted(out.values)


def test_records_that_a_custom_partitioner_has_shared_out_are_not_shared_out_anew() -> None:
    snapshot, before = with_records_on_their_way("custom")
    env, _, _ = program(3, "custom")
    with pytest.raises(StateMigrationError, match="a custom partitioner has distributed"):
        env.start(restore_from=snapshot)
    env, source, out = program(2, "custom")
    with env.start(restore_from=snapshot) as job:
        source.push_all(range(300))  # the position is behind what was pushed first
        source.push(1000)
        job.finish()
    assert len(set(out.values)) == len(out.values)
    assert set(before) | set(out.values) == {*range(300), 1000}


@pytest.mark.parametrize("other", ["chained", "key"])
def test_a_program_with_other_connections_is_refused(other: str) -> None:
    snapshot, _ = with_records_on_their_way("rebalance")
    env, _, _ = program(2, other)
    with pytest.raises(StateMigrationError, match="in flight to"):
        env.start(restore_from=snapshot)
