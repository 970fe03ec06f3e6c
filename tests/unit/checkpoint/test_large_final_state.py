"""State that is left when a job ends, larger than what the JobManager's memory is meant for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from wiesel.common import Configuration, Types
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.state import ValueStateDescriptor

KEYS = 8
BYTES_PER_KEY = 1 << 20


class Keep(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self._kept = runtime_context.get_state(ValueStateDescriptor("kept", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        self._kept.update(bytes([value]) * BYTES_PER_KEY)
        yield value


def run(**options: str) -> list[int]:
    settings = {"wiesel.engine": "local", "restart-strategy.type": "none", **options}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(1)
    with env.from_collection(list(range(KEYS))).key_by(lambda n: n).process(Keep()).execute_and_collect() as found:
        return sorted(found)


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_a_job_without_checkpoints_ends_well(backend: str) -> None:
    assert run(**{"state.backend.type": backend}) == list(range(KEYS))


def test_a_job_with_checkpoints_in_memory_fails_with_what_to_do() -> None:
    with pytest.raises(JobExecutionError, match="too large for the JobManager's memory") as failure:
        run(**{"execution.checkpointing.interval": "1h"})
    assert "execution.checkpointing.dir" in str(failure.value.hint)
