"""Internal. Queues of asynchronous requests and subsequent events, which determine the order of the results."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Event", "OrderedQueue", "Request", "RequestQueue", "UnorderedQueue"]


class Request:
    """A record with its request and outcome.

    Attributes:
        value: The record.
        timestamp: Its timestamp.
        settled: True if it has results or an error. Used by the event loop's thread.
        done: The same; used by the mailbox thread.
        results: Its results.
        error: The error of the request.
        segment: Its segment in an unordered queue.
        timer: Timer of its timeout.
    """

    __slots__ = ("done", "error", "results", "segment", "settled", "timer", "timestamp", "value")

    def __init__(self, value: Any, timestamp: int | None) -> None:
        self.value = value
        self.timestamp = timestamp
        self.settled = self.done = False
        self.results: list[Any] = []
        self.error: Exception | None = None
        self.segment: Any = None
        self.timer: asyncio.TimerHandle | None = None


Event = Callable[[], None]
"""Emits a watermark or a status, which must not be reordered with records."""


class RequestQueue(ABC):
    """Requests in flight; its length is their number."""

    @abstractmethod
    def add(self, request: Request) -> None:
        """Add a started request."""

    @abstractmethod
    def add_event(self, event: Event) -> None:
        """Add an event after the present requests."""

    @abstractmethod
    def complete(self, request: Request) -> None:
        """A request is done."""

    @abstractmethod
    def drain(self) -> Iterator[Request | Event]:
        """Return the results and events that can be emitted now, in order."""

    @abstractmethod
    def requests(self) -> Iterator[Request]:
        """Return all requests that were not handed on."""

    @abstractmethod
    def __len__(self) -> int: ...


class OrderedQueue(RequestQueue):
    """Results are emitted in the order of their records."""

    def __init__(self) -> None:
        self._entries: deque[Request | Event] = deque()
        self._count = 0

    def add(self, request: Request) -> None:
        self._entries.append(request)
        self._count += 1

    def add_event(self, event: Event) -> None:
        self._entries.append(event)

    def complete(self, request: Request) -> None:
        request.done = True

    def drain(self) -> Iterator[Request | Event]:
        entries = self._entries
        while entries:
            entry = entries[0]
            if isinstance(entry, Request):
                if not entry.done:
                    return
                self._count -= 1
            yield entries.popleft()

    def requests(self) -> Iterator[Request]:
        return (entry for entry in self._entries if isinstance(entry, Request))

    def __len__(self) -> int:
        return self._count


class _Segment:
    """The requests between two events."""

    __slots__ = ("done", "event", "open")

    def __init__(self) -> None:
        self.open: dict[Request, None] = {}
        self.done: deque[Request] = deque()
        self.event: Event | None = None


class UnorderedQueue(RequestQueue):
    """Results are emitted as they complete, but never across an event."""

    def __init__(self) -> None:
        self._segments: deque[_Segment] = deque([_Segment()])
        self._count = 0

    def add(self, request: Request) -> None:
        request.segment = self._segments[-1]
        request.segment.open[request] = None
        self._count += 1

    def add_event(self, event: Event) -> None:
        self._segments[-1].event = event
        self._segments.append(_Segment())

    def complete(self, request: Request) -> None:
        segment = request.segment
        del segment.open[request]
        segment.done.append(request)

    def drain(self) -> Iterator[Request | Event]:
        while True:
            segment = self._segments[0]
            while segment.done:
                self._count -= 1
                yield segment.done.popleft()
            if segment.open or segment.event is None:
                return
            yield self._segments.popleft().event  # type: ignore[misc]

    def requests(self) -> Iterator[Request]:
        for segment in self._segments:
            yield from segment.done
            yield from segment.open

    def __len__(self) -> int:
        return self._count
