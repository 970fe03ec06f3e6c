"""Internal. The fast operator of event-time session windows: sessions grow in memory, and are written to state after a batch."""

from __future__ import annotations

from typing import Any

from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.windows.batched import BatchedWindowOperator, Records
from wiesel.runtime.windows.contents import AggregatingContents, ListContents
from wiesel.runtime.windows.merging import MERGING_SET
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.windows.session_assigners import EventTimeSessionWindows
from wiesel.spi.windows.triggers import EventTimeTrigger

__all__ = ["SessionWindowOperator", "is_fast_session"]

_UNREAD: Any = object()


def is_fast_session(spec: WindowSpec) -> bool:
    """Return whether :class:`SessionWindowOperator` supports a spec."""
    return type(spec.assigner) is EventTimeSessionWindows and type(spec.trigger) is EventTimeTrigger


class _Session:
    """A session of a key in the present batch.

    Attributes:
        start: Start in ms.
        end: End in ms.
        stored: The window under which it is in state; None for a new one.
        state_window: The state window of its contents.
        state: Its state, ``_UNREAD`` if it has not been read; for lists only the new elements.
        dirty: True if the batch has added to it.
    """

    __slots__ = ("dirty", "end", "start", "state", "state_window", "stored")

    def __init__(self, start: int, end: int, stored: Any, state_window: Any, state: Any) -> None:
        self.start = start
        self.end = end
        self.stored = stored
        self.state_window = state_window
        self.state = state
        self.dirty = False


class SessionWindowOperator(BatchedWindowOperator):
    """The window operator for specs that satisfy :func:`is_fast_session`.

    The usual case is a record that begins a session or belongs to exactly one that has not fired yet.
    """

    def __init__(self, spec: WindowSpec) -> None:
        super().__init__(spec)
        self._gap: int = spec.assigner._session_gap
        self._sessions: dict[Any, list[_Session]] = {}

    def open(self) -> None:
        """Select how elements are added."""
        super().open()
        self._mappings = self.context.backend.table(MERGING_SET)
        contents: Any = self.contents
        self._keeps_elements = isinstance(contents, ListContents)
        self._aggregates = isinstance(contents, AggregatingContents)

    def _add_all(self, records: Records) -> None:
        gap, watermark = self._gap, self.timers.current_watermark
        sessions_of, load, add = self._sessions, self._load, self._add
        for value, key, timestamp in records:
            end = timestamp + gap
            sessions = sessions_of.get(key)
            if sessions is None:
                sessions = load(key)
            found, several = None, False
            for session in sessions:
                if session.start <= end and timestamp <= session.end:
                    several = found is not None
                    found = session
                    if several:
                        break
            if found is None:
                if end - 1 <= watermark or timestamp == MIN_TIMESTAMP:
                    self._process_late(value, key, timestamp)
                    continue
                window = (timestamp, end)
                found = _Session(timestamp, end, None, window, None)
                add(found, key, value)
                sessions.append(found)
            elif several or found.end - 1 <= watermark:
                self.process_generally(value, key, timestamp)
            else:
                add(found, key, value)
                if timestamp < found.start:
                    found.start = timestamp
                if end > found.end:
                    found.end = end

    def _process_late(self, value: Any, key: Any, timestamp: int) -> None:
        """Process a record whose own window has ended, and which belongs to no session."""
        if timestamp != MIN_TIMESTAMP and timestamp + self._gap - 1 + self.lateness_ms <= self.timers.current_watermark:
            self._skipped(value, timestamp)
        else:
            self.process_generally(value, key, timestamp)

    def _load(self, key: Any) -> list[_Session]:
        state = None if self._keeps_elements else _UNREAD
        mapping = self._mappings.get(key) or {}
        sessions = [_Session(window[0], window[1], window, state_window, state) for window, state_window in mapping.items()]
        self._sessions[key] = sessions
        return sessions

    def _add(self, session: _Session, key: Any, value: Any) -> None:
        contents: Any = self.contents
        state = session.state
        if self._keeps_elements:
            if state is None:
                session.state = [value]
            else:
                state.append(value)
        else:
            if state is _UNREAD:
                state = contents.table.get(key, session.state_window)
            if self._aggregates:
                session.state = contents.add_to(value, contents.create() if state is None else state)
            else:
                session.state = value if state is None else contents.reduce(state, value)
        session.dirty = True

    def _write_back(self) -> None:
        contents: Any = self.contents
        write = contents.table.extend if self._keeps_elements else contents.store
        for key, sessions in self._sessions.items():
            mapping: Any = None
            for session in sessions:
                if not session.dirty:
                    continue
                window = (session.start, session.end)
                if window != session.stored:
                    if mapping is None:
                        mapping = self._mappings.get(key) or {}
                    self._move(mapping, key, session, window)
                if self._keeps_elements:
                    write(key, session.state, session.state_window)
                else:
                    write(key, session.state_window, session.state)
            if mapping is not None:
                self._mappings.put(key, mapping)
        self._sessions.clear()

    def _move(self, mapping: dict[Any, Any], key: Any, session: _Session, window: tuple[int, int]) -> None:
        """Update the window of a session in state, and move its timers."""
        if session.stored is not None:
            del mapping[session.stored]
            self.delete_timers(key, session.stored)
        mapping[window] = session.state_window
        self.set_timers(key, window)
