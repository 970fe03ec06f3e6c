"""Internal. Metrics of a task: the four kinds, metric groups, and the registry of a subtask.

All methods are called from the task's mailbox thread, except for :meth:`MetricRegistry.snapshot`, which may be called from another thread
and returns slightly outdated values. There are no threads and no history: rates are computed from the counts at two snapshots or, for a
:class:`Meter`, from a ring of past counts that is updated on access.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from wiesel.core.clock import Clock, SystemClock
from wiesel.core.errors import ProgramError
from wiesel.core.logs import get_logger

__all__ = [
    "LATE_COUNTER",
    "Counter",
    "Distribution",
    "Gauge",
    "Meter",
    "Metric",
    "MetricGroup",
    "MetricRegistry",
    "SimpleCounter",
    "SimpleDistribution",
    "SimpleMeter",
    "merge_counts",
]

MetricValue: TypeAlias = Any
"""A value in a snapshot: a number for counters and gauges, a dict of numbers for meters and distributions. JSON-able."""

LATE_COUNTER = "numLateRecordsDropped"
"""Name of the counter of dropped late records, as in Flink."""

_log = get_logger("wiesel.metrics")
_METER_STEP_S = 5.0


class Metric(ABC):
    """Base of the metrics."""

    @abstractmethod
    def value(self) -> MetricValue:
        """Return the value for a snapshot."""


class Counter(Metric):
    """A counter that can be incremented and decremented."""

    @abstractmethod
    def inc(self, n: int = 1) -> None:
        """Add ``n``."""

    @abstractmethod
    def dec(self, n: int = 1) -> None:
        """Subtract ``n``."""

    @abstractmethod
    def get_count(self) -> int:
        """Return the count."""


class Meter(Metric):
    """Counts events and their rate."""

    @abstractmethod
    def mark_event(self, value: int = 1) -> None:
        """Note that ``value`` events happened."""

    @abstractmethod
    def get_count(self) -> int:
        """Return the number of events so far."""


class Distribution(Metric):
    """Sum, count, minimum, maximum and mean of the reported values."""

    @abstractmethod
    def update(self, value: int) -> None:
        """Report a value."""


class Gauge(Metric):
    """A value that is computed when it is reported."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    def value(self) -> MetricValue:
        """Return the function's result."""
        return self._function()


class SimpleCounter(Counter):
    """The counter in use; hot paths may add to :attr:`count` directly."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def inc(self, n: int = 1) -> None:
        self.count += n

    def dec(self, n: int = 1) -> None:
        self.count -= n

    def get_count(self) -> int:
        return self.count

    def value(self) -> int:
        return self.count


class SimpleMeter(Meter):
    """Events per second over the last ``time_span_in_seconds``, in steps of five seconds as Flink's MeterView."""

    def __init__(self, time_span_in_seconds: int, clock: Clock) -> None:
        self._clock = clock
        self._count = 0
        steps = max(1, int(time_span_in_seconds // _METER_STEP_S))
        self._past: deque[tuple[float, int]] = deque([(clock.monotonic_s(), 0)], maxlen=steps + 1)

    def mark_event(self, value: int = 1) -> None:
        self._count += value

    def get_count(self) -> int:
        return self._count

    def get_rate(self) -> float:
        """Return events per second; 0 before the first step has passed."""
        now_s = self._clock.monotonic_s()
        if now_s - self._past[-1][0] >= _METER_STEP_S:
            self._past.append((now_s, self._count))
        oldest_s, oldest_count = self._past[0]
        newest_s, newest_count = self._past[-1]
        return (newest_count - oldest_count) / (newest_s - oldest_s) if newest_s > oldest_s else 0.0

    def value(self) -> dict[str, float]:
        return {"count": self._count, "rate": self.get_rate()}


class SimpleDistribution(Distribution):
    """The distribution in use."""

    def __init__(self) -> None:
        self._count = 0
        self._sum: float = 0
        self._min: float | None = None
        self._max: float | None = None

    def update(self, value: int) -> None:
        self._count += 1
        self._sum += value
        self._min = value if self._min is None or value < self._min else self._min
        self._max = value if self._max is None or value > self._max else self._max

    def value(self) -> dict[str, float | None]:
        mean = self._sum / self._count if self._count else None
        return {"count": self._count, "sum": self._sum, "min": self._min, "max": self._max, "mean": mean}


M = TypeVar("M", bound=Metric)


class MetricGroup(ABC):
    """Names metrics; groups nest."""

    @abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the group ``name`` inside this one, or with ``extra`` the group of a key and its value."""

    @abstractmethod
    def counter(self, name: str) -> Counter:
        """Return the counter of this name; the same one if it exists."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Report the result of ``obj()`` under this name."""

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Return the meter of this name; the same one if it exists."""

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Return the distribution of this name; the same one if it exists."""

    def close(self) -> None:
        """Remove the metrics of this group and of the groups inside it."""


class MetricRegistry:
    """All metrics of one subtask by their full names (parts joined by ``.``)."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._metrics: dict[str, Metric] = {}
        self._complained: set[str] = set()

    @property
    def clock(self) -> Clock:
        """The clock of meters."""
        return self._clock

    def group(self, *scope: str) -> MetricGroup:
        """Return the group with these parts of a name."""
        return _Group(self, ".".join(scope))

    def register(self, name: str, make: Callable[[], M], kind: type[M]) -> M:
        """Return the metric of this full name, creating it if it does not exist.

        Raises:
            ProgramError: If it exists with another kind.
        """
        metric = self._metrics.get(name)
        if metric is None:
            metric = self._metrics[name] = make()
        if not isinstance(metric, kind):
            raise ProgramError(
                f"metric {name!r} is a {type(metric).__name__} and was asked for as a {kind.__name__}",
                hint="give the two metrics different names or groups",
            )
        return metric

    def replace(self, name: str, metric: Metric) -> None:
        """Replace the metric of this full name (a gauge of a restarted function)."""
        self._metrics[name] = metric

    def remove(self, scope: str) -> None:
        """Remove all metrics whose full names begin with these parts."""
        for name in [name for name in self._metrics if name.startswith(f"{scope}.")]:
            del self._metrics[name]

    def snapshot(self) -> dict[str, MetricValue]:
        """Return names and values. A gauge that raises is omitted, and logged once."""
        values = {}
        for name, metric in list(self._metrics.items()):
            try:
                values[name] = metric.value()
            except Exception as e:  # noqa: BLE001 - a gauge is the user's code, and reporting must not fail the job
                if name not in self._complained:
                    self._complained.add(name)
                    _log.warning("gauge %s raised %s: %s; it is omitted from the metrics", name, type(e).__name__, e)
        return values


class _Group(MetricGroup):
    def __init__(self, registry: MetricRegistry, scope: str) -> None:
        self._registry = registry
        self._scope = scope

    def _full(self, name: str) -> str:
        return f"{self._scope}.{name}" if self._scope else name

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        return _Group(self._registry, self._full(name if extra is None else f"{name}.{extra}"))

    def counter(self, name: str) -> Counter:
        return self._registry.register(self._full(name), SimpleCounter, SimpleCounter)

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        if not callable(obj):
            raise ProgramError(f"gauge {self._full(name)!r} got {obj!r}, which cannot be called", hint="give a function without arguments")
        self._registry.replace(self._full(name), Gauge(obj))

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        clock = self._registry.clock
        return self._registry.register(self._full(name), lambda: SimpleMeter(time_span_in_seconds, clock), SimpleMeter)

    def close(self) -> None:
        self._registry.remove(self._scope)

    def distribution(self, name: str) -> Distribution:
        return self._registry.register(self._full(name), SimpleDistribution, SimpleDistribution)


def merge_counts(snapshots: list[Mapping[str, MetricValue]]) -> dict[str, MetricValue]:
    """Sum up snapshots of subtasks: numbers are summed, meters and distributions part by part; other values are omitted."""
    result: dict[str, MetricValue] = {}
    for snapshot in snapshots:
        for name, value in snapshot.items():
            if isinstance(value, Mapping):
                result[name] = _merge_parts(result.get(name), value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                result[name] = result.get(name, 0) + value
    return result


def _merge_parts(left: Mapping[str, Any] | None, right: Mapping[str, Any]) -> dict[str, Any]:
    if left is None:
        return dict(right)
    merged: dict[str, Any] = {}
    for part in right:
        values = [v for v in (left.get(part), right[part]) if v is not None]
        fold: Callable[[Any], Any] = min if part == "min" else max if part == "max" else sum
        merged[part] = fold(values) if values else None
    if "mean" in merged:
        merged["mean"] = merged["sum"] / merged["count"] if merged["count"] else None
    return merged
