"""Asynchronous calls that take 10 ms each, so many at a time as the capacity allows."""

import asyncio

import metering
from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import AsyncFunction

CALL_S = 0.01


class Call(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(CALL_S)
        return [(0, value)]


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--capacity", type=int, default=100, help="calls at a time, per subtask")
    options = parser.parse_args()
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    env = metering.environment(options)
    numbers = env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), "numbers", Types.LONG())
    answers = AsyncDataStream.unordered_wait(numbers, Call(), Time.seconds(60), options.capacity, pair)
    metering.run(env, answers, options)


if __name__ == "__main__":
    main()
