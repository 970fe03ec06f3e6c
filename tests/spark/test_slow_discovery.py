"""A source whose client hangs while it looks for splits delays nothing else: neither checkpoints nor the end of the job."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, JobStatus, WatermarkStrategy
from wiesel.core.errors import JobCancelledError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.base import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator
from wiesel.datastream.connectors.number_seq import NumberSequenceSource

LIMIT_S = 120.0
HANGS_S = 300.0


class Hanging(Source[Any]):
    """Its discovery touches a file and hangs."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, begun: Path) -> None:
        self.begun = begun

    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[Any]:
        return HangingEnumerator(context, self.begun)

    def create_reader(self, context: Any) -> SourceReader[Any]:
        return Silent()


class HangingEnumerator(SplitEnumerator[Any]):
    def __init__(self, context: Any, begun: Path) -> None:
        self.context, self.begun = context, begun

    def start(self) -> None:
        def discover() -> None:
            self.begun.touch()
            time.sleep(HANGS_S)

        def handler(result: None, error: BaseException | None) -> None:
            self.begun.unlink()

        self.context.call_async(discover, handler)

    def add_reader(self, subtask: int) -> None:
        pass

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return None


class Silent(SourceReader[Any]):
    def poll(self, output: Any) -> InputStatus:
        return InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: Any) -> None:
        pass

    def snapshot_state(self, checkpoint_id: int) -> list[Any]:
        return []


def test_checkpoints_go_on_and_the_job_is_cancelled_while_a_discovery_hangs(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    # A JobMaster that is held up hears no heartbeats: the job would restart.
    settings = {"execution.checkpointing.interval": "100 ms", "heartbeat.timeout": "5 s", "heartbeat.interval": "500 ms"}
    settings |= {"restart-strategy.type": "none", "parallelism.default": "1"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "numbers")
    silent = env.from_source(Hanging(begun), WatermarkStrategy.no_watermarks(), "hanging")
    numbers.union(silent).filter(lambda n: False).print()
    client = env.execute_async("slow discovery")
    deadline_s = time.monotonic() + LIMIT_S
    while not begun.exists():
        assert time.monotonic() < deadline_s, "the discovery has not begun"
        time.sleep(0.05)
    before = client.get_job_metrics().result()["checkpoints"]["completed"]
    while client.get_job_metrics().result()["checkpoints"]["completed"] < before + 3:
        assert time.monotonic() < deadline_s, "no checkpoints while the discovery hangs"
        time.sleep(0.05)
    assert client.get_job_status().result() is JobStatus.RUNNING
    client.cancel().result()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result(LIMIT_S)
    assert begun.exists(), "the discovery hangs still"
