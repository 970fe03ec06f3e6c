"""Random DataStream programs give on the local engine the multiset of records that real Flink gave
(``tests/differential/record_random_streams.py``)."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.differential.canonical import difference, multiset
from tests.differential.programs_loader import HERE, collect
from tests.parity.test_differential import configuration

sys.path.insert(0, str(HERE))

from record_random_streams import build, recorded

RECORDED = {seed: records for seed, records in recorded().items() if isinstance(records, list)}
"""Without the programs that PyFlink cannot run."""


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=() if seed % 10 == 0 else pytest.mark.slow) for seed in RECORDED])
def test_same_records_as_real_flink(seed: int, pyflink_names: Any) -> None:
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment

    config = configuration(Configuration(), "local").set_string("wiesel.local.seed", str(seed))
    env = StreamExecutionEnvironment.get_execution_environment(config)
    problem = difference(RECORDED[seed], multiset(collect(build(env, seed))))
    assert not problem, f"seed {seed}:\n{problem}"


def test_the_programs_are_many_and_of_every_parallelism() -> None:
    assert len(RECORDED) >= 200 and sum(map(bool, RECORDED.values())) >= 180
    assert all(sum(seed % 3 == rest for seed in RECORDED) > 50 for rest in range(3))
