"""Asynchronous calls that take 10 ms each, so many at a time as the capacity allows."""

import asyncio
import time
from pathlib import Path

import metering
from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import AsyncFunction, RuntimeContext

CALL_S = 0.01


class Call(AsyncFunction):
    """Waits, and at the end tells how long all its calls took together and from when to when they were made.

    A call takes longer than it asks for: asyncio's timers are late by a fraction of a millisecond, more on a busy machine.
    """

    def __init__(self, folder):
        self._folder = folder

    def open(self, runtime_context: RuntimeContext):
        self._subtask = runtime_context.get_index_of_this_subtask()
        self._first = self._last = None
        self._took = 0.0

    async def async_invoke(self, value):
        began = time.perf_counter()
        if self._first is None:
            self._first = began
        await asyncio.sleep(CALL_S)
        self._last = time.perf_counter()
        self._took += self._last - began
        return [(0, value)]

    def close(self):
        if self._last is not None:
            Path(self._folder, f"{self._subtask}.calls").write_text(f"{self._took} {self._last - self._first}")


def calls_at_a_time(folder):
    """Return how many calls were being made at a time, in the mean over the subtasks."""
    parts = [tuple(map(float, path.read_text().split())) for path in Path(folder).glob("*.calls")]
    return {"calls_at_a_time": round(sum(took / span for took, span in parts) / len(parts), 1)} if parts else {}


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--capacity", type=int, default=100, help="calls at a time, per subtask")
    options = parser.parse_args()
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    env = metering.environment(options)
    numbers = env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), "numbers", Types.LONG())
    answers = AsyncDataStream.unordered_wait(numbers, Call(options.folder), Time.seconds(60), options.capacity, pair)
    metering.run(env, answers, options, lambda: calls_at_a_time(options.folder))


if __name__ == "__main__":
    main()
