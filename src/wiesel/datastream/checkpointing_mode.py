"""Checkpointing modes."""

from __future__ import annotations

from enum import Enum

__all__ = ["CheckpointingMode"]


class CheckpointingMode(Enum):
    """The guarantee for state after a failure: exactly once, or at least once (with less waiting)."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
