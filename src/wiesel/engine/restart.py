"""Internal. Restart strategies: pure decisions, after Flink's RestartBackoffTimeStrategy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from random import Random

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.durations import to_millis
from wiesel.core.errors import ConfigurationError

_NO_LIMIT = (1 << 31) - 1
"""Flink's default number of restarts, the largest one of an int."""


class RestartStrategy(ABC):
    """Is notified of each failure; returns the delay of the next attempt, or that the job fails."""

    unlimited = False
    """True if the number of restarts is unlimited."""
    merged = False
    """True if the last failure belongs to a pending restart, and does not count separately."""

    @abstractmethod
    def on_failure(self, now_ms: int) -> int | None:
        """Return the delay in ms before a restart, or None to fail the job."""


class NoRestart(RestartStrategy):
    """The first failure fails the job."""

    def on_failure(self, now_ms: int) -> int | None:
        """Return None."""
        return None


class FixedDelayRestart(RestartStrategy):
    """``attempts`` restarts, each after ``delay_ms``."""

    def __init__(self, attempts: int, delay_ms: int) -> None:
        self._left = attempts
        self._delay_ms = delay_ms

    def on_failure(self, now_ms: int) -> int | None:
        """Use up one restart."""
        if self._left <= 0:
            return None
        self._left -= 1
        return self._delay_ms


class FailureRateRestart(RestartStrategy):
    """Restarts while fewer than ``max_failures`` happened within ``interval_ms``."""

    def __init__(self, max_failures: int, interval_ms: int, delay_ms: int) -> None:
        self._max = max_failures
        self._interval_ms = interval_ms
        self._delay_ms = delay_ms
        self._failures: deque[int] = deque()

    def on_failure(self, now_ms: int) -> int | None:
        """Count the failure."""
        while self._failures and now_ms - self._failures[0] > self._interval_ms:
            self._failures.popleft()
        if len(self._failures) >= self._max:
            return None
        self._failures.append(now_ms)
        return self._delay_ms


class ExponentialDelayRestart(RestartStrategy):
    """The delay grows with every failure and falls back after a quiet time; jitter spreads many jobs."""

    def __init__(
        self,
        *,
        initial_ms: int,
        max_ms: int,
        multiplier: float,
        reset_ms: int,
        jitter: float,
        attempts: int,
        seed: int | None = None,
    ) -> None:
        self._initial_ms = initial_ms
        self._max_ms = max_ms
        self._multiplier = multiplier
        self._reset_ms = reset_ms
        self._jitter = jitter
        self._attempts = attempts
        self.unlimited = attempts >= _NO_LIMIT
        self._random = Random(seed)
        self._delay_ms = float(initial_ms)
        self._count = 0
        self._last_ms: int | None = None
        self._waits_ms: tuple[int, int] | None = None
        """From when until when the restart after the last failure is waited for."""

    def on_failure(self, now_ms: int) -> int | None:
        """Count the failure; a quiet period since the last one resets the delay. One before the pending restart belongs to the last one."""
        waits_ms = self._waits_ms
        self.merged = waits_ms is not None and waits_ms[0] <= now_ms < waits_ms[1]
        if waits_ms is not None and self.merged:
            return waits_ms[1] - now_ms
        delay_ms = self._delay(now_ms)
        self._waits_ms = None if delay_ms is None else (now_ms, now_ms + delay_ms)
        return delay_ms

    def _delay(self, now_ms: int) -> int | None:
        if self._last_ms is not None and now_ms - self._last_ms >= self._reset_ms + self._delay_ms:
            self._delay_ms = float(self._initial_ms)
            self._count = 0
        elif self._last_ms is not None:
            self._delay_ms = min(float(self._max_ms), self._delay_ms * self._multiplier)
        self._last_ms = now_ms
        self._count += 1
        if self._count > self._attempts:
            return None
        spread = self._delay_ms * self._jitter
        return max(0, round(min(float(self._max_ms), self._delay_ms + self._random.uniform(-spread, spread))))



_NAMES = {
    "none": "none",
    "off": "none",
    "disable": "none",
    "fixeddelay": "fixed-delay",
    "fixed-delay": "fixed-delay",
    "exponentialdelay": "exponential-delay",
    "exponential-delay": "exponential-delay",
    "failurerate": "failure-rate",
    "failure-rate": "failure-rate",
}


def restart_strategy(config: Configuration, *, checkpointing: bool) -> RestartStrategy:
    """Return the strategy that a configuration names; by default, as in Flink, none without checkpoints, else exponential delay."""
    given = config.get(opt.RESTART_STRATEGY)
    name = _NAMES.get(str(given).lower()) if given is not None else ("exponential-delay" if checkpointing else "none")
    if name is None:
        raise ConfigurationError(
            f"restart-strategy.type is {given!r}", hint="use none, fixed-delay, exponential-delay or failure-rate"
        )
    if name == "none":
        return NoRestart()
    if name == "fixed-delay":
        return FixedDelayRestart(config.get(opt.FIXED_DELAY_ATTEMPTS), to_millis(config.get(opt.FIXED_DELAY_DELAY)))
    if name == "failure-rate":
        return FailureRateRestart(
            config.get(opt.FAILURE_RATE_MAX),
            to_millis(config.get(opt.FAILURE_RATE_INTERVAL)),
            to_millis(config.get(opt.FAILURE_RATE_DELAY)),
        )
    return ExponentialDelayRestart(
        initial_ms=to_millis(config.get(opt.EXPONENTIAL_INITIAL)),
        max_ms=to_millis(config.get(opt.EXPONENTIAL_MAX)),
        multiplier=config.get(opt.EXPONENTIAL_MULTIPLIER),
        reset_ms=to_millis(config.get(opt.EXPONENTIAL_RESET)),
        jitter=config.get(opt.EXPONENTIAL_JITTER),
        attempts=config.get(opt.EXPONENTIAL_ATTEMPTS),
    )
