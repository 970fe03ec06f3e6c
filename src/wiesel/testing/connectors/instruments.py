"""Internal. Faults in the calls of a connector: copies of sinks and sources whose objects raise before, within or after a chosen call."""

from __future__ import annotations

import functools
import uuid
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.spi.sink import Sink
from wiesel.spi.source import Source
from wiesel.testing._failures import InjectedFailure

__all__ = ["DIVISIBLE", "Fault", "Faults", "instrumented_sink", "instrumented_source"]

DIVISIBLE = ("writer.write_batch", "committer.commit")
"""Calls that take a list first, and can fail when they have done a part of it."""
_CALLS = {
    "writer": ("write_batch", "flush", "prepare_commit", "snapshot_state"),
    "committer": ("commit",),
    "reader": ("start", "add_splits", "poll", "snapshot_state", "handle_source_event"),
    "enumerator": ("start", "add_reader", "handle_split_request", "handle_source_event", "snapshot_state", "notify_checkpoint_complete"),
}
_PARTS = {"create_writer": "writer", "create_committer": "committer", "create_reader": "reader", "create_enumerator": "enumerator"}

@dataclass(frozen=True)
class Fault:
    """A failure of a call, such as ``writer.flush``, or at a point of the checkpoint protocol.

    Attributes:
        place: The call or the point.
        when: ``before``, ``within`` or ``after`` a call; ``at`` a point.
        nth: The number of the passage at which it fails, from 1 on.
    """

    place: str
    when: str = "at"
    nth: int = 1

    def __str__(self) -> str:
        return f"{self.when} {self.place}" + (f" (passage {self.nth})" if self.nth > 1 else "")


_ALL: weakref.WeakValueDictionary[str, Faults] = weakref.WeakValueDictionary()
"""The faults of this process by name: the copies of a connector that run in tasks find them."""


class Faults:
    """The faults that one run is to suffer, and the calls that were made in it. Copies made by pickling are the same object."""

    def __init__(self) -> None:
        self._name = uuid.uuid4().hex
        self._armed: list[Fault] = []
        self.calls: Counter[str] = Counter()
        self.hits: list[Fault] = []
        _ALL[self._name] = self

    def arm(self, fault: Fault) -> None:
        """Have a fault happen."""
        self._armed.append(fault)

    def disarm(self) -> None:
        """Have no fault happen any more."""
        self._armed.clear()

    def is_due(self, place: str, when: str = "at") -> bool:
        """Count a passage, and return whether the failure happens now."""
        armed, self._armed = self._armed, []
        due = False
        for fault in armed:
            if due or (fault.place, fault.when) != (place, when):
                self._armed.append(fault)
            elif fault.nth > 1:
                self._armed.append(replace(fault, nth=fault.nth - 1))
            else:
                due = True
                self.hits.append(fault)
        return due

    def passes(self, place: str, when: str = "at") -> None:
        """Count a passage.

        Raises:
            InjectedFailure: A fault is due.
        """
        if self.is_due(place, when):
            raise InjectedFailure(f"planned {when} {place}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _found, (self._name,)


def _found(name: str) -> Faults:
    return _ALL[name]


@dataclass(frozen=True)
class _Creation:
    """Creates a writer, committer, reader or enumerator whose calls can fail."""

    faults: Faults
    create: Callable[..., Any]
    part: str

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        made = self.create(*arguments, **options)
        if made is not None:
            for name in _CALLS[self.part]:
                _replace(made, name, _failing(self.faults, f"{self.part}.{name}", getattr(made, name)))
        return made


def _failing(faults: Faults, place: str, call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def failing(*arguments: Any, **options: Any) -> Any:
        faults.calls[place] += 1
        faults.passes(place, "before")
        if place in DIVISIBLE and faults.is_due(place, "within"):
            half = max(1, len(arguments[0]) // 2)
            call(*(each[:half] if isinstance(each, list | tuple) else each for each in arguments), **options)
            raise InjectedFailure(f"planned within {place}")
        result = call(*arguments, **options)
        faults.passes(place, "after")
        return result

    return failing


def _replace(owner: Any, name: str, value: Any) -> None:
    try:
        object.__setattr__(owner, name, value)
    except AttributeError as error:
        raise ProgramError(
            f"calls of {type(owner).__name__} cannot be made to fail: it has no __dict__", hint="remove its __slots__, or test a subclass"
        ) from error


def _instrumented(connector: Any, faults: Faults, creations: tuple[str, ...]) -> Any:
    """Return an object of a subclass with the same attributes. A copy made by pickling is one of the connector's copy."""
    kind = type(connector)
    names = {"__reduce_ex__": lambda self, protocol: (_instrumented, (connector, faults, creations)), "__module__": kind.__module__}
    changed: Any = object.__new__(type(kind.__name__, (kind,), names))
    for name, value in vars(connector).items():
        _replace(changed, name, value)
    for name in creations:
        _replace(changed, name, _Creation(faults, getattr(connector, name), _PARTS[name]))
    return changed


def instrumented_sink(sink: Sink, faults: Faults) -> Sink:
    """Return a sink like this one whose writers and committer suffer faults."""
    changed: Sink = _instrumented(sink, faults, ("create_writer", "create_committer"))
    return changed


def instrumented_source(source: Source[Any], faults: Faults) -> Source[Any]:
    """Return a source like this one whose readers and enumerators suffer faults."""
    changed: Source[Any] = _instrumented(source, faults, ("create_reader", "create_enumerator"))
    return changed
