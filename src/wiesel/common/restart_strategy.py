"""Restart strategies after failures.

Flink 2 sets restart strategies by options (``restart-strategy.type``, ...); these classes are kept for programs that use them and are
converted to the options (:meth:`RestartStrategyConfiguration.to_settings`).
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from typing import TypeAlias

from wiesel.core.durations import Duration, format_duration

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]

_Interval: TypeAlias = int | datetime.timedelta | Duration


def _interval(name: str, value: _Interval) -> Duration:
    if isinstance(value, bool) or not isinstance(value, int | datetime.timedelta | Duration):
        raise TypeError(f"{name} must be milliseconds, a timedelta or a Duration, got {value!r}")
    return Duration.of(value)


class RestartStrategyConfiguration(ABC):
    """A restart strategy and its parameters."""

    @abstractmethod
    def get_description(self) -> str:
        """Return a sentence about it."""

    @abstractmethod
    def to_settings(self) -> dict[str, str]:
        """Return the equivalent options."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RestartStrategyConfiguration) and self.to_settings() == other.to_settings()

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.to_settings().items())))

    def __repr__(self) -> str:
        return f"<{self.get_description()}>"


class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
    """No restarts: the first failure ends the job."""

    def get_description(self) -> str:
        return "Restart deactivated."

    def to_settings(self) -> dict[str, str]:
        return {"restart-strategy.type": "none"}


class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
    """A number of restarts, with the same time before each."""

    def __init__(self, restart_attempts: int, delay_between_attempts_interval: _Interval) -> None:
        self._attempts = restart_attempts
        self._delay = _interval("delay_between_attempts_interval", delay_between_attempts_interval)

    def get_restart_attempts(self) -> int:
        """Return the number of restarts."""
        return self._attempts

    def get_delay_between_attempts_interval(self) -> datetime.timedelta:
        """Return the time before a restart."""
        return self._delay.to_timedelta()

    def get_description(self) -> str:
        return f"Restart with fixed delay ({self._delay}). #{self._attempts} restart attempts."

    def to_settings(self) -> dict[str, str]:
        return {
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": str(self._attempts),
            "restart-strategy.fixed-delay.delay": format_duration(self._delay),
        }


class ExponentialDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
    """Restarts indefinitely, with a growing delay that is reset after a time without failures."""

    def __init__(
        self,
        initial_backoff: _Interval,
        max_backoff: _Interval,
        backoff_multiplier: float,
        reset_backoff_threshold: _Interval,
        jitter_factor: float,
    ) -> None:
        self._initial = _interval("initial_backoff", initial_backoff)
        self._max = _interval("max_backoff", max_backoff)
        self._multiplier = backoff_multiplier
        self._reset = _interval("reset_backoff_threshold", reset_backoff_threshold)
        self._jitter = jitter_factor

    def get_description(self) -> str:
        return (
            f"Restart with exponential delay: starting at {self._initial}, increasing by {self._multiplier}, with maximum {self._max}. "
            f"Delay resets after {self._reset} with jitter {self._jitter}"
        )

    def to_settings(self) -> dict[str, str]:
        prefix = "restart-strategy.exponential-delay."
        return {
            "restart-strategy.type": "exponential-delay",
            prefix + "initial-backoff": format_duration(self._initial),
            prefix + "max-backoff": format_duration(self._max),
            prefix + "backoff-multiplier": str(self._multiplier),
            prefix + "reset-backoff-threshold": format_duration(self._reset),
            prefix + "jitter-factor": str(self._jitter),
        }


class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
    """Restarts unless there are too many failures within an interval."""

    def __init__(self, max_failure_rate: int, failure_interval: _Interval, delay_between_attempts_interval: _Interval) -> None:
        self._max_failures = max_failure_rate
        self._interval = _interval("failure_interval", failure_interval)
        self._delay = _interval("delay_between_attempts_interval", delay_between_attempts_interval)

    def get_max_failure_rate(self) -> int:
        """Return the number of tolerated failures in an interval."""
        return self._max_failures

    def get_failure_interval(self) -> datetime.timedelta:
        """Return the interval."""
        return self._interval.to_timedelta()

    def get_delay_between_attempts_interval(self) -> datetime.timedelta:
        """Return the time before a restart."""
        return self._delay.to_timedelta()

    def get_description(self) -> str:
        return (
            f"Failure rate restart with maximum of {self._max_failures} failures within interval {self._interval} "
            f"and fixed delay {self._delay}."
        )

    def to_settings(self) -> dict[str, str]:
        prefix = "restart-strategy.failure-rate."
        return {
            "restart-strategy.type": "failure-rate",
            prefix + "max-failures-per-interval": str(self._max_failures),
            prefix + "failure-rate-interval": format_duration(self._interval),
            prefix + "delay": format_duration(self._delay),
        }


class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
    """The strategy of the configuration."""

    def get_description(self) -> str:
        return "Cluster level default restart strategy"

    def to_settings(self) -> dict[str, str]:
        return {}


class RestartStrategies:
    """Creates restart strategies. Intervals are milliseconds, timedeltas or Durations."""

    NoRestartStrategyConfiguration: TypeAlias = NoRestartStrategyConfiguration
    FixedDelayRestartStrategyConfiguration: TypeAlias = FixedDelayRestartStrategyConfiguration
    ExponentialDelayRestartStrategyConfiguration: TypeAlias = ExponentialDelayRestartStrategyConfiguration
    FailureRateRestartStrategyConfiguration: TypeAlias = FailureRateRestartStrategyConfiguration
    FallbackRestartStrategyConfiguration: TypeAlias = FallbackRestartStrategyConfiguration

    @staticmethod
    def no_restart() -> RestartStrategyConfiguration:
        """Return the strategy without restarts: the first failure ends the job."""
        return NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> RestartStrategyConfiguration:
        """The strategy of the configuration."""
        return FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(restart_attempts: int, delay_between_attempts: _Interval) -> FixedDelayRestartStrategyConfiguration:
        """A number of restarts, with the same time before each."""
        return FixedDelayRestartStrategyConfiguration(restart_attempts, delay_between_attempts)

    @staticmethod
    def exponential_delay_restart(
        initial_backoff: _Interval,
        max_backoff: _Interval,
        backoff_multiplier: float,
        reset_backoff_threshold: _Interval,
        jitter_factor: float,
    ) -> ExponentialDelayRestartStrategyConfiguration:
        """Restarts for ever, with growing times between."""
        return ExponentialDelayRestartStrategyConfiguration(
            initial_backoff, max_backoff, backoff_multiplier, reset_backoff_threshold, jitter_factor
        )

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: _Interval, delay_interval: _Interval
    ) -> FailureRateRestartStrategyConfiguration:
        """Return the strategy that restarts unless there are too many failures within an interval."""
        return FailureRateRestartStrategyConfiguration(failure_rate, failure_interval, delay_interval)
