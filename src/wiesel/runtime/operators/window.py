"""Internal. Factories of window operators."""

from __future__ import annotations

from typing import Any

from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.windows.co_group import make_co_group_operator
from wiesel.runtime.windows.evicting import EvictingWindowOperator
from wiesel.runtime.windows.fast import EventTimeWindowOperator, is_fast
from wiesel.runtime.windows.fast_sessions import SessionWindowOperator, is_fast_session
from wiesel.runtime.windows.operator import WindowOperator
from wiesel.runtime.windows.shared import SharedSlicesOperator, shares
from wiesel.runtime.windows.shared_processing import ProcessingTimeSlicesOperator
from wiesel.runtime.windows.spec import WindowSpec

__all__ = ["co_group_operator", "window_operator"]


def window_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator of a windowed stream.

    Args:
        params: Not used.
        payload: ``assigner``, ``trigger`` (None: the assigner's), ``allowed_lateness_ms``, ``late_tag`` (id or None), ``function``
            and ``function_kind`` (process, apply, pass_through), ``incremental`` and ``incremental_kind`` (None, reduce, aggregate),
            ``evictor`` (or None), ``share_slices`` (bool), ``all`` (the function has the signature of window_all), ``input_type``,
            ``accumulator_type`` and ``output_type`` (may be None).
    """
    spec = WindowSpec.of(payload)
    if shares(spec):
        return SharedSlicesOperator(spec) if spec.event_time else ProcessingTimeSlicesOperator(spec)
    if spec.evictor is not None:
        return EvictingWindowOperator(spec)
    if is_fast(spec):
        return EventTimeWindowOperator(spec)
    return SessionWindowOperator(spec) if is_fast_session(spec) else WindowOperator(spec)


def co_group_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator that joins or co-groups two streams in windows.

    Args:
        params: Not used.
        payload: As for :func:`window_operator`, without an incremental function; ``function_kind`` is ``join``, ``flat_join`` or
            ``co_group``.
    """
    return make_co_group_operator(WindowSpec.of(payload))
