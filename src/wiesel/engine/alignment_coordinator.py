"""Internal. Coordinator of watermark alignment for the sources of one group; see ``wiesel.runtime.alignment``."""

from __future__ import annotations

from collections.abc import Iterable

from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.alignment import AlignWatermark, ReportWatermark

__all__ = ["AlignmentCoordinator"]


class AlignmentCoordinator:
    """Knows the watermarks of all subtasks of a group; a role is a source of it."""

    def __init__(self) -> None:
        self._reports: dict[tuple[str, int], ReportWatermark] = {}
        self._limits: dict[tuple[str, int], int] = {}

    def on_event(self, role: str, subtask: int, event: ReportWatermark) -> Iterable[tuple[str, int, AlignWatermark]]:
        """Process a report; return the changed limits."""
        self._reports[role, subtask] = event
        in_order = sorted(self._reports, key=lambda member: self._reports[member].watermark)
        for member, report in self._reports.items():
            # A subtask does not wait for itself, or the slowest one could advance by no more than the drift between two reports, as in
            # Flink.
            others = [other for other in in_order[:2] if other != member]
            limit = min(self._reports[others[0]].watermark + report.max_drift_ms, MAX_TIMESTAMP) if others else MAX_TIMESTAMP
            if self._limits.get(member) != limit:
                self._limits[member] = limit
                yield *member, AlignWatermark(limit)

    def forget(self, role: str, subtask: int) -> None:
        """Discard the reports of a restarted subtask."""
        self._reports.pop((role, subtask), None)
        self._limits.pop((role, subtask), None)
