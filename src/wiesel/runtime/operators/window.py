"""Internal. The factory of window operators."""

from __future__ import annotations

from typing import Any

from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.windows.evicting import EvictingWindowOperator
from wiesel.runtime.windows.fast import EventTimeWindowOperator, is_fast
from wiesel.runtime.windows.fast_sessions import SessionWindowOperator, is_fast_session
from wiesel.runtime.windows.operator import WindowOperator
from wiesel.runtime.windows.spec import WindowSpec

__all__ = ["window_operator"]


def window_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Make the operator of a windowed stream.

    Args:
        params: Not used.
        payload: ``assigner``, ``trigger`` (None: the assigner's), ``allowed_lateness_ms``, ``late_tag`` (id or None), ``function``
            and ``function_kind`` (process, apply, pass_through), ``incremental`` and ``incremental_kind`` (None, reduce, aggregate),
            ``evictor`` (or None), ``all`` (the function has the signature of window_all), ``input_type``, ``accumulator_type`` and
            ``output_type`` (may be None).
    """
    spec = WindowSpec.of(payload)
    if spec.evictor is not None:
        return EvictingWindowOperator(spec)
    if is_fast(spec):
        return EventTimeWindowOperator(spec)
    return SessionWindowOperator(spec) if is_fast_session(spec) else WindowOperator(spec)
