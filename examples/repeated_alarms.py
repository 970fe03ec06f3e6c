"""State with a time to live: an alarm is told once, and again only when it has not come for some time.

The state of an alarm that has stopped goes by itself; no timer has to clean it up.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.state import StateTtlConfig, ValueStateDescriptor

ALARM = Types.TUPLE([Types.STRING(), Types.INT()])
PER_SECOND = 10
PUMP, DOOR = "the pump is hot", "the door is open"


def alarm(number: int) -> tuple[str, int]:
    """The pump is hot all the time; the door is open in the first second and in the last two of each ten."""
    second = number // PER_SECOND % 10
    return (DOOR if number % 2 and second in (0, 8, 9) else PUMP), number


class TellOnce(KeyedProcessFunction):
    def __init__(self, quiet_s: int) -> None:
        self.quiet_s = quiet_s

    def open(self, runtime_context: RuntimeContext) -> None:
        lives = StateTtlConfig.new_builder(Time.seconds(self.quiet_s))
        # Reading it is not enough: only an alarm that comes again puts the end off.
        lives.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)
        lives.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
        told = ValueStateDescriptor("told", Types.BOOLEAN())
        told.enable_time_to_live(lives.build())
        self.told = runtime_context.get_state(told)

    def process_element(self, value: tuple[str, int], ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        if not self.told.value():
            yield f"{value[0]} (alarm {value[1]})"
        self.told.update(True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--quiet", type=int, default=4, help="seconds after which an alarm is told again")
    arguments = parser.parse_args()
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    source = DataGeneratorSource(alarm, arguments.seconds * PER_SECOND, RateLimiterStrategy.per_second(PER_SECOND), ALARM)
    alarms = env.from_source(source, WatermarkStrategy.no_watermarks(), "alarms", ALARM)
    alarms.key_by(lambda value: value[0], Types.STRING()).process(TellOnce(arguments.quiet), Types.STRING()).print()
    env.execute("repeated alarms")


if __name__ == "__main__":
    main()
