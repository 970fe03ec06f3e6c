"""The local engine: time that passes only where nothing else can happen."""

from __future__ import annotations

import pytest

from wiesel.common import Configuration, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy


def test_a_job_may_take_any_time_of_the_virtual_clock() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    # Two minutes, more than any time-out of the engine.
    source = DataGeneratorSource(lambda i: i, 120, RateLimiterStrategy.per_second(1))
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "one a second")
    assert sorted(stream.key_by(lambda n: n % 3).map(lambda n: n).execute_and_collect()) == list(range(120))


def leaves(value: int) -> int:
    raise SystemExit(4)


@pytest.mark.timeout(60)
def test_code_that_ends_the_process_fails_its_job_and_hangs_nobody() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.from_collection([1, 2]).map(leaves).print()
    with pytest.raises(JobExecutionError) as caught:
        env.execute("leaves")
    assert "SystemExit: 4" in str(caught.value.__cause__) and "in leaves at" in str(caught.value.__cause__)
