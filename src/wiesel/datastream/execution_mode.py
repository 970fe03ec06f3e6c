"""Runtime modes."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """The execution mode of a job.

    STREAMING: all operators run concurrently, results are emitted continuously. BATCH: stage after stage, bounded inputs and final results
    only. AUTOMATIC: BATCH if all sources are bounded, else STREAMING.
    """

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2
