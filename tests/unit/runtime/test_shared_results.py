"""Several consumers of the same results: what one does to a record, no other sees."""

from __future__ import annotations

from typing import Any

import pytest

from wiesel.common import Configuration
from wiesel.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment


def environment(**options: str) -> StreamExecutionEnvironment:
    settings = {"wiesel.engine": "local", "restart-strategy.type": "none", **options}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(1)


def spoil(record: list[int]) -> str:
    record.append(-1)
    return "spoiled"


def show(record: list[int]) -> str:
    return repr(record)


class Aside(ProcessFunction):
    def process_element(self, value: list[int], ctx: Any) -> Any:
        yield TAG, value
        yield value


TAG = OutputTag("aside")


@pytest.mark.parametrize("behind", ["chained", "exchange"])
@pytest.mark.parametrize("spoiled_first", [True, False])
def test_a_consumer_that_changes_a_record_does_not_change_it_for_the_others(behind: str, spoiled_first: bool) -> None:
    env = environment()
    records = env.from_collection([[1], [2, 3]]).map(lambda r: r)
    other = records if behind == "chained" else records.rebalance()
    branches = [lambda: records.map(spoil), lambda: other.map(show)]
    if not spoiled_first:
        branches.reverse()
    first, second = (branch() for branch in branches)
    with first.union(second).execute_and_collect() as found:
        assert sorted(found) == ["[1]", "[2, 3]", "spoiled", "spoiled"]


def test_a_record_that_goes_to_a_side_output_as_well_is_not_shared() -> None:
    env = environment()
    records = env.from_collection([[1]]).process(Aside())
    with records.map(spoil).union(records.get_side_output(TAG).map(show)).execute_and_collect() as found:
        assert sorted(found) == ["[1]", "spoiled"]
