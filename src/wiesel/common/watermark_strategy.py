"""Timestamps and watermarks."""

from wiesel.spi.watermark import (
    BoundedOutOfOrdernessWatermarks,
    IngestionTimeAssigner,
    TimestampAssigner,
    WatermarkGenerator,
    WatermarkOutput,
    WatermarkStrategy,
)

__all__ = [
    "BoundedOutOfOrdernessWatermarks",
    "IngestionTimeAssigner",
    "TimestampAssigner",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
]
