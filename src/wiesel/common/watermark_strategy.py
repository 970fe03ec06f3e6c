"""Timestamps and watermarks."""

from wiesel.spi.watermark import (
    BoundedOutOfOrdernessWatermarks,
    TimestampAssigner,
    WatermarkGenerator,
    WatermarkOutput,
    WatermarkStrategy,
)

__all__ = ["BoundedOutOfOrdernessWatermarks", "TimestampAssigner", "WatermarkGenerator", "WatermarkOutput", "WatermarkStrategy"]
