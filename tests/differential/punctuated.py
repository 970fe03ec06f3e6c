"""A watermark strategy that emits a watermark after every record, on real Flink and on Wiesel.

Flink's own strategies emit watermarks by the wall clock, so what is late in a short job depends on luck. With this one the watermark
is the highest timestamp seen, at once, and late data is the same in every run. PyFlink has no Python watermark generators, so on real
Flink the recorder brings a small Java one (``java/PerRecordWatermarks.java``).
"""

from __future__ import annotations

from typing import Any


def per_record_watermarks() -> Any:
    """Returns a ``WatermarkStrategy`` whose watermark equals the timestamp of each record as it passes (a smaller one has no effect)."""
    from pyflink.common import WatermarkStrategy

    if hasattr(WatermarkStrategy, "for_generator"):
        return _wiesel_strategy(WatermarkStrategy)
    from pyflink.java_gateway import get_gateway

    return WatermarkStrategy(get_gateway().jvm.PerRecordWatermarks())


def _wiesel_strategy(strategy: Any) -> Any:
    from pyflink.common.watermark_strategy import WatermarkGenerator

    class PerRecord(WatermarkGenerator):  # type: ignore[misc]
        def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
            output.emit_watermark(event_timestamp)

        def on_periodic_emit(self, output: Any) -> None:
            pass

    return strategy.for_generator(PerRecord)
