"""Internal. Settings of mini-batches."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MiniBatch"]


@dataclass(frozen=True)
class MiniBatch:
    """Maximal delay (ms) and number of buffered rows."""

    latency_ms: int
    size: int

    def __str__(self) -> str:
        return f"{self.latency_ms} ms, {self.size} rows"
