"""Internal. Window operators with two inputs: joins and co-groups.

An element is ``(side, record)``: a :class:`~wiesel.spi.joins.TaggedUnion` where visible to user code, else a plain tuple.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from wiesel.runtime.windows.evicting import EvictingWindowOperator
from wiesel.runtime.windows.fast import EventTimeWindowOperator, is_fast
from wiesel.runtime.windows.fast_sessions import SessionWindowOperator, is_fast_session
from wiesel.runtime.windows.operator import WindowOperator
from wiesel.runtime.windows.results import FailedWindow
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.joins import TaggedUnion
from wiesel.wire.batch import Batch

__all__ = ["make_co_group_operator"]


class _TwoInputs(WindowOperator):
    """Base of windows with two inputs. Results have the last timestamp of their window, whatever fired it."""

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process records of one of the streams."""
        super().process_batch(Batch(self._tagged(input_index, batch.values), batch.timestamps, batch.keys), input_index)

    def _tagged(self, side: int, values: list[Any]) -> list[Any]:
        return list(map(TaggedUnion, repeat(side), values))

    def _evaluate(self, key: Any, window: Any, namespace: Any, state_window: Any, contents: list[Any], timestamp: int | None) -> None:
        super()._evaluate(key, window, namespace, state_window, contents, window.max_timestamp())

    def _failed(self, error: Exception, record: Any, timestamp: int | None) -> None:
        super()._failed(error, record if isinstance(record, FailedWindow) else record[1], timestamp)


class _Plain(_TwoInputs):
    def _tagged(self, side: int, values: list[Any]) -> list[Any]:
        return list(zip(repeat(side), values))


class CoGroupOperator(_TwoInputs, WindowOperator):
    """Any assigner and trigger."""


class EvictingCoGroupOperator(_TwoInputs, EvictingWindowOperator):
    """With an evictor."""


class EventTimeCoGroupOperator(_Plain, EventTimeWindowOperator):
    """Tumbling and sliding windows of event time with their usual trigger."""


class SessionCoGroupOperator(_Plain, SessionWindowOperator):
    """Sessions of event time with their usual trigger."""


def make_co_group_operator(spec: WindowSpec) -> WindowOperator:
    """Return the operator of a spec."""
    if spec.evictor is not None:
        return EvictingCoGroupOperator(spec)
    if is_fast(spec):
        return EventTimeCoGroupOperator(spec)
    return SessionCoGroupOperator(spec) if is_fast_session(spec) else CoGroupOperator(spec)
