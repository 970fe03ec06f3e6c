"""A job whose source is silent for a long time: the next record must come through as fast as the one before the silence."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.base import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator
from wiesel.datastream.state import ValueStateDescriptor

RECORDS_BEFORE = 20
SLOWEST_S = 1.0
"""What a record may take at most after the silence, on a machine that has other work too."""

_POLL_S = 0.002
_ARRIVES_WITHIN_S = 60.0


class LettersSource(Source[int]):
    """Emits the number of each file ``0``, ``1``, ... in a directory when it appears; ends with the file ``end``."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[int]:
        return NoSplits()

    def create_reader(self, context: Any) -> SourceReader[int]:
        return LettersReader(Path(self.directory), first=context.subtask_index == 0)


class NoSplits(SplitEnumerator[int]):
    def add_reader(self, subtask: int) -> None:
        return None

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return None


class LettersReader(SourceReader[int]):
    poll_interval_ms = 1

    def __init__(self, directory: Path, *, first: bool) -> None:
        self.directory, self.first, self.next = directory, first, 0

    def add_splits(self, splits: Sequence[int]) -> None:
        return None

    def notify_no_more_splits(self) -> None:
        return None

    def poll(self, output: Any) -> InputStatus:
        if (self.directory / "end").exists():
            return InputStatus.END_OF_INPUT
        if self.first and (self.directory / str(self.next)).exists():
            output.collect([self.next], None, "letters")
            self.next += 1
            return InputStatus.MORE_AVAILABLE
        return InputStatus.NOTHING_AVAILABLE

    def snapshot_state(self, checkpoint_id: int) -> list[int]:
        return []


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        yield value, count


class Answer(MapFunction):
    """Writes the count of each letter into a file beside it."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def map(self, value: Any) -> Any:
        number, count = value
        ready = Path(self._directory, f"{number}-answer")
        unfinished = ready.with_suffix(".part")
        unfinished.write_text(str(count))
        unfinished.rename(ready)
        return value


def run(console: Console, directory: Path, seconds: float) -> None:
    """Send records, be silent, send one more.

    Raises:
        AssertionError: it came late, or its state was not that of before.
    """
    letters = directory / "letters"
    letters.mkdir(parents=True)
    options = {"execution.checkpointing.interval": "10 s", "execution.checkpointing.dir": str(directory / "checkpoints")}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options)).set_parallelism(2)
    stream = env.from_source(LettersSource(str(letters)), WatermarkStrategy.no_watermarks(), "letters", type_info=Types.LONG())
    stream.key_by(lambda n: 0, key_type=Types.LONG()).process(Count()).rebalance().map(Answer(str(letters))).print()
    client = env.execute_async("silence")
    before = [_send(letters, number) for number in range(RECORDS_BEFORE)]
    time.sleep(seconds)
    after = _send(letters, RECORDS_BEFORE)
    (letters / "end").touch()
    client.get_job_execution_result().result()
    console.print(
        f"silence of {seconds:.0f} s: the next record took {after * 1e3:.0f} ms, "
        f"those before {statistics.median(before[1:]) * 1e3:.0f} ms (median)",
        highlight=False,
    )
    assert after <= SLOWEST_S, f"the record after the silence took {after:.1f} s"


def _send(letters: Path, number: int) -> float:
    """Send a record and wait for the answer; return how long that took, in seconds."""
    sent_s = time.monotonic()
    (letters / str(number)).touch()
    answer = letters / f"{number}-answer"
    while not answer.exists():
        assert time.monotonic() - sent_s < _ARRIVES_WITHIN_S, f"record {number} has not come within {_ARRIVES_WITHIN_S:.0f} s"
        time.sleep(_POLL_S)
    took_s = time.monotonic() - sent_s
    count = int(answer.read_text())
    assert count == number + 1, f"record {number} was counted as the {count}th"
    return took_s
