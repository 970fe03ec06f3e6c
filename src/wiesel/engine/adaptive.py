"""Internal. The adaptive scheduler: runs a job with the parallelism that the slots allow, and rescales it when there are more.

Its rules are Flink's: an attempt waits until there are slots for the desired parallelism, or for a limited time with fewer; one that runs
with fewer is rescaled once more have been available for some time.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from wiesel.core.errors import NoResourceAvailableError
from wiesel.core.logs import get_logger
from wiesel.engine.base import AdaptiveSettings
from wiesel.rest.gateway import Rescaled

if TYPE_CHECKING:
    from wiesel.engine.job_master import JobMaster

_LOOK_EVERY_MS = 500
_log = get_logger("wiesel.job")


class AdaptiveScheduler:
    """Checks for slots while an attempt waits for them or runs with fewer than desired. Methods are called in the master's thread."""

    def __init__(self, master: JobMaster, settings: AdaptiveSettings) -> None:
        self._master = master
        self._settings = settings
        self._waiting_since_ms: int | None = None
        self._enough_since_ms: int | None = None
        self._not_before_ms = 0
        self._due_ms: int | None = None
        self._looks = 0

    def next_deadline_ms(self) -> int | None:
        """Return the time (ms) of the next call of ``on_time``, or None."""
        return self._due_ms

    # Events of the job

    def wait(self) -> None:
        """Wait for slots for a new attempt, then call ``start_with`` of the master."""
        now_ms = self._master.now_ms()
        self._waiting_since_ms, self._enough_since_ms = now_ms, None
        self._look_at(now_ms)

    def running(self) -> None:
        """Handle that all tasks of the attempt run."""
        now_ms = self._master.now_ms()
        self._not_before_ms, self._enough_since_ms = now_ms + self._settings.cooldown_ms, None
        self._look_at(now_ms + _LOOK_EVERY_MS)

    def stop(self) -> None:
        """Stop, as the attempt has ended, or no rescaling is wanted any more."""
        self._waiting_since_ms = self._due_ms = None
        self._looks += 1

    def _look_at(self, due_ms: int) -> None:
        self._due_ms = due_ms
        # The answer to an earlier check is obsolete.
        self._looks += 1

    def on_time(self, now_ms: int) -> None:
        """Check for slots if it is time."""
        if self._due_ms is None or now_ms < self._due_ms:
            return
        self._due_ms, look = None, self._looks
        if self._waiting_since_ms is None and self._has_all():
            return

        def looked(free: int | None, error: BaseException | None) -> None:
            if look != self._looks:
                return
            if error is not None:
                self.stop()
                self._master.cannot_start(error)
            elif self._waiting_since_ms is not None:
                self._while_waiting(self._waiting_since_ms, free)
            else:
                self._while_running(free)

        self._master.run_async(self._master.free_slots, looked)

    def requirements_changed(self) -> None:
        """Handle changed bounds of the parallelism."""
        if self._waiting_since_ms is None and self._due_ms is None:
            self._look_at(self._master.now_ms() + _LOOK_EVERY_MS)

    def _has_all(self) -> bool:
        return self._master.rescaling.present() == self._master.rescaling.desired()

    # Results of checks

    def _while_waiting(self, since_ms: int, free: int | None) -> None:
        now_ms, settings, rescaling = self._master.now_ms(), self._settings, self._master.rescaling
        found, desired = rescaling.fitting(free), rescaling.desired()
        if found is None:
            self._enough_since_ms = None
            if now_ms - since_ms >= settings.wait_ms:
                self.stop()
                self._master.cannot_start(
                    NoResourceAvailableError(
                        f"the job needs at least {rescaling.least_slots()} slots at the same time, there were {free} after "
                        f"{(now_ms - since_ms) / 1e3:.0f} s",
                        hint="add executors or cores, or raise jobmanager.adaptive-scheduler.submission.resource-wait-timeout",
                    )
                )
                return
        elif found == desired or self._lasts(now_ms, settings.stable_before_start_ms):
            if found != desired:
                _log.warning("there are only %s slots: the job runs with a lower parallelism, and is rescaled when there are more", free)
            self.stop()
            self._master.start_with(found)
            return
        self._look_at(now_ms + _LOOK_EVERY_MS)

    def _while_running(self, free: int | None) -> None:
        now_ms, settings, rescaling = self._master.now_ms(), self._settings, self._master.rescaling
        found, present = rescaling.fitting(free), rescaling.present()
        if found is None or sum(found.values()) <= sum(present.values()):
            self._enough_since_ms = None
        elif (
            (self._lasts(now_ms, settings.stable_before_rescaling_ms) or found == rescaling.desired())
            and now_ms >= self._not_before_ms
            and not rescaling.under_way
        ):
            self._not_before_ms = now_ms + settings.cooldown_ms
            self._master.rescale_to(found).add_done_callback(_told)
        self._look_at(now_ms + _LOOK_EVERY_MS)

    def _lasts(self, now_ms: int, limit_ms: int) -> bool:
        """Return whether there have been enough slots for this time."""
        if self._enough_since_ms is None:
            self._enough_since_ms = now_ms
        return now_ms - self._enough_since_ms >= limit_ms


def _told(done: Future[Rescaled]) -> None:
    if done.exception() is None:
        after = ", ".join(f"{v.name}: {v.before} -> {v.after}" for v in done.result().vertices)
        _log.info("more slots are available, and the job was rescaled: %s", after)
