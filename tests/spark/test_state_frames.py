"""State of a checkpoint as a Spark DataFrame that the executors read, and state made of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parity.conftest import time_limit
from wiesel.common import Types
from wiesel.core.config import Configuration
from wiesel.datastream.state import MapStateDescriptor, ValueStateDescriptor
from wiesel.engine.spark.session import spark_session
from wiesel.state_processor import KeyedStateBootstrapFunction, OperatorTransformation, SavepointReader, SavepointWriter

USERS = 1000
SECONDS = 300


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with time_limit(SECONDS):
        yield


class Put(KeyedStateBootstrapFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))
        self.by_day = runtime_context.get_map_state(MapStateDescriptor("by_day", Types.INT(), Types.LONG()))

    def process_element(self, value, ctx):
        self.total.update((self.total.value() or 0) + value["amount"])
        self.by_day.put(value["day"], value["amount"])
        ctx.timer_service().register_event_time_timer(value["amount"])


def test_state_becomes_a_data_frame_and_a_data_frame_state(tmp_path: Path) -> None:
    session = spark_session(Configuration.from_dict({"wiesel.spark.master": "local[2]"}), 2)
    orders = session.range(3 * USERS).selectExpr("concat('user ', id % 1000) AS user", "cast(id % 3 AS int) AS day", "id AS amount")
    state = OperatorTransformation.bootstrap_with(orders).key_by(lambda row: row["user"], Types.STRING()).transform(Put())
    path = SavepointWriter.new_savepoint(parallelism=2).with_operator("totals", state).write(str(tmp_path / "made"))
    rows = SavepointReader.read(path).keyed_state("totals")

    frame = rows.to_spark(session)
    assert frame.rdd.getNumPartitions() == 2
    assert frame.dtypes == [("key", "string"), ("by_day", "map<int,bigint>"), ("total", "bigint")]
    expected = {f"user {i}": sum(range(i, 3 * USERS, USERS)) for i in range(USERS)}
    assert {row["key"]: row["total"] for row in frame.collect()} == expected

    split = rows.to_spark(session, partitions=5)
    assert split.rdd.getNumPartitions() >= 5
    found = split.collect()
    assert len(found) == USERS
    assert {row["key"]: row["total"] for row in found} == expected
    assert split.where("key = 'user 7'").selectExpr("by_day[0]", "by_day[1]", "by_day[2]").collect()[0][:] == (2007, 7, 1007)
    timers = SavepointReader.read(path).timers("totals").to_spark(session)
    assert sorted(row["timestamp"] for row in timers.where("time_domain = 'event'").collect()) == list(range(3 * USERS))
