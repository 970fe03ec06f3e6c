"""State and timers: says which sensors have not been heard of for five minutes, and when they come back."""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.common import Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner, WatermarkGenerator, WatermarkOutput
from wiesel.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from wiesel.datastream.state import ValueStateDescriptor

SILENCE_S = 300

# Sensor, second, temperature.
READINGS = [
    ("cellar", 0, 12.1),
    ("attic", 30, 31.0),
    ("cellar", 200, 12.2),
    ("attic", 260, 31.4),
    ("cellar", 490, 12.2),
    ("cellar", 700, 12.4),
    ("attic", 900, 33.8),
    ("cellar", 905, 12.3),
]


class SecondOfReading(TimestampAssigner):
    def extract_timestamp(self, value: tuple[str, int, float], record_timestamp: int) -> int:
        return value[1] * 1000


class EachReading(WatermarkGenerator):
    """Time goes on with every reading; the built-in strategies look at the time every 200 ms, which is too seldom for so short a stream."""

    def on_event(self, event: tuple[str, int, float], event_timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(event_timestamp - 1)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


class Silence(KeyedProcessFunction):
    """Sets an alarm with every reading and takes the last one back."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.alarm_ms = runtime_context.get_state(ValueStateDescriptor("alarm", Types.LONG()))
        self.silent = runtime_context.get_state(ValueStateDescriptor("silent", Types.BOOLEAN()))

    def process_element(self, value: tuple[str, int, float], ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        timers = ctx.timer_service()
        before = self.alarm_ms.value()
        if before is not None:
            timers.delete_event_time_timer(before)
        alarm_ms = ctx.timestamp() + SILENCE_S * 1000
        timers.register_event_time_timer(alarm_ms)
        self.alarm_ms.update(alarm_ms)
        if self.silent.value():
            self.silent.clear()
            yield f"{value[0]} is back after {value[1]} s"

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[str]:
        self.alarm_ms.clear()
        self.silent.update(True)
        yield f"{ctx.get_current_key()} is silent after {timestamp // 1000} s"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_generator(EachReading).with_timestamp_assigner(SecondOfReading())
    (
        env.from_collection(READINGS, Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()]))
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda reading: reading[0], Types.STRING())
        .process(Silence(), Types.STRING())
        .print()
    )
    env.execute("silent sensors")


if __name__ == "__main__":
    main()
