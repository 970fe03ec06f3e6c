"""Internal. How rows wait for each other."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MiniBatch"]


@dataclass(frozen=True)
class MiniBatch:
    """How long (ms) and how many rows wait for each other."""

    latency_ms: int
    size: int

    def __str__(self) -> str:
        return f"{self.latency_ms} ms, {self.size} rows"
