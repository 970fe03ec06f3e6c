"""Internal. Restarts of regions while the rest of the job runs. See docs/design/0007-failover-regions.md."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.metadata import copied
from wiesel.core.errors import CheckpointStorageError, WieselError
from wiesel.core.logs import get_logger
from wiesel.engine.failover import FailoverRegion
from wiesel.engine.job_attempt import JobAttempt

if TYPE_CHECKING:
    from wiesel.engine.job_master import JobMaster

_log = get_logger("wiesel.job")


class RegionRestarts:
    """Restarts regions of the present attempt. Methods are called in the master's thread."""

    def __init__(self, master: JobMaster) -> None:
        self._master = master
        self._restarts: Counter[int] = Counter()

    def of(self, region: FailoverRegion) -> int:
        """Return the number of separate restarts of a region."""
        return self._restarts[region.index]

    def failed(self, attempt: JobAttempt, region: FailoverRegion, error: BaseException) -> None:
        """Handle failed tasks of a region: end the others, and ask the restart strategy."""
        master = self._master
        delay_ms = master.delay_after(error, region)
        if delay_ms is None:
            master.give_up(attempt, error)
            return
        names = ", ".join(attempt.plan.graph.job.vertices[v].name for v in sorted(region.vertices))
        shown = master.shown(error)
        _log.warning("attempt %d of %s failed, restarting it in %d ms while the others run on: %s", region.number, names, delay_ms, shown)
        region.restart_at_ms = master.now_ms() + delay_ms
        master.region_stops(region)

    def next_deadline_ms(self, attempt: JobAttempt) -> int | None:
        """Return the time (ms) of the next call of ``on_time``, or None."""
        due = [r.restart_at_ms for r in attempt.regions if r.restart_at_ms is not None and not r.launched]
        return min(due, default=None)

    def on_time(self, attempt: JobAttempt, now_ms: int) -> None:
        """Restart regions whose tasks have ended and whose delay has passed."""
        for region in attempt.regions:
            if region.restart_at_ms is not None and not region.launched and now_ms >= region.restart_at_ms:
                region.restart_at_ms = None
                self._begin(attempt, region)

    def _begin(self, attempt: JobAttempt, region: FailoverRegion) -> None:
        """Announce the new attempt, after a pending publication: that is the newest checkpoint then."""
        master = self._master

        def begun(number: int | None, error: BaseException | None) -> None:
            if attempt is not master.attempt or attempt.ended:
                return
            if isinstance(error, CheckpointStorageError):
                # The storage may recover: this counts as a failed attempt.
                self.failed(attempt, region, error)
            elif error is not None:
                attempt.fail(error)
            elif number is not None:
                self._start(attempt, region, number)

        master.run_async(lambda: master.recovery.begin_region(attempt.number), begun)

    def _start(self, attempt: JobAttempt, region: FailoverRegion, number: int) -> None:
        self._restarts[region.index] += 1
        try:
            self._master.start_region(attempt, region, number, _of_region(attempt, region))
        except WieselError as error:
            attempt.fail(error)


def _of_region(attempt: JobAttempt, region: FailoverRegion) -> Checkpoint | None:
    """Return a region's part of the newest checkpoint as a copy, as if read from storage, because the restored values may be changed.

    The part is determined by operators: vertices and tasks may be those of another parallelism.
    """
    checkpoint = attempt.coordinator.latest
    if checkpoint is None:
        return None
    own = {o.operator_id for v in attempt.plan.graph.job.vertices if v.index in region.vertices for o in v.operators}
    tasks = {
        key: replace(task, operators={name: part for name, part in task.operators.items() if name in own})
        for key, task in checkpoint.tasks.items()
    }
    return copied(replace(checkpoint, tasks=tasks, enumerators={k: v for k, v in checkpoint.enumerators.items() if k in own}))
