"""Internal. Warnings about dropped late records."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wiesel.core.logs import get_logger
from wiesel.core.metrics import LATE_COUNTER

if TYPE_CHECKING:
    from wiesel.engine.job_master import JobMaster

__all__ = ["LateRecords"]

_log = get_logger("wiesel.job")

_COUNTER = f".{LATE_COUNTER}"
_EVENTS = ("checkpoint", "FINISHED", "CANCELED", "FAILED")


class LateRecords:
    """Warns about each operator that drops late records: at the next checkpoint, and with the total at the end.

    Flink only has a metric, which is easily overlooked when results are too small.
    """

    def __init__(self) -> None:
        self._told: Counter[str] = Counter()

    def __call__(self, master: JobMaster, event: str) -> None:
        """Handle an event of the job; a listener of the JobMaster."""
        if event not in _EVENTS or master.attempt is None:
            return
        dropped: Counter[str] = Counter()
        for metrics in master.attempt.metrics.copy().values():
            dropped.update({name.removesuffix(_COUNTER): int(n) for name, n in metrics.items() if name.endswith(_COUNTER) and n})
        for operator, count in dropped.items():
            before = self._told[operator]
            if before == count or (before and event == "checkpoint"):
                continue
            self._told[operator] = count
            _log.warning(
                "'%s' has dropped %s late records: they arrived after the end of their windows, or behind the watermark. "
                "A longer watermark delay, an allowed lateness or, for bounded data, execution.runtime-mode: BATCH includes them",
                operator,
                f"{count:,}",
            )
