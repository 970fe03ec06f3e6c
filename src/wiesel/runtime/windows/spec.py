"""Internal. The validated payload of a window operator's spec, with defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wiesel.core.errors import invariant
from wiesel.spi.functions import Function
from wiesel.spi.windows.assigner import MergingWindowAssigner
from wiesel.spi.windows.count_assigners import CountSlidingWindowAssigner, CountTumblingWindowAssigner
from wiesel.spi.windows.triggers import CountTrigger

__all__ = ["WindowSpec"]

_EVALUATED = ("process", "apply", "pass_through", "join", "flat_join", "co_group")
_INCREMENTAL = (None, "reduce", "aggregate")


@dataclass(frozen=True)
class WindowSpec:
    """Specification of a window operator. ``late_tag``: id of the side output for late records; ``incremental`` None: store all elements.

    With an ``evictor`` all elements are stored in any case. ``share_slices``: overlapping windows are computed from slices.
    """

    assigner: Any
    trigger: Any
    allowed_lateness_ms: int
    late_tag: str | None
    function: Any
    function_kind: str
    incremental: Any
    incremental_kind: str | None
    of_all: bool
    input_type: Any
    accumulator_type: Any
    output_type: Any
    evictor: Any = None
    share_slices: bool = False

    @staticmethod
    def of(payload: dict[str, Any]) -> WindowSpec:
        """Return the spec of a payload."""
        assigner, trigger = payload["assigner"], payload.get("trigger")
        if trigger is None:
            trigger = assigner.get_default_trigger(None)
        spec = WindowSpec(
            assigner=assigner,
            trigger=trigger,
            allowed_lateness_ms=payload.get("allowed_lateness_ms") or 0,
            late_tag=payload.get("late_tag"),
            function=payload.get("function"),
            function_kind=payload["function_kind"],
            incremental=payload.get("incremental"),
            incremental_kind=payload.get("incremental_kind"),
            of_all=bool(payload.get("all")),
            input_type=payload.get("input_type"),
            accumulator_type=payload.get("accumulator_type"),
            output_type=payload.get("output_type"),
            evictor=payload.get("evictor"),
            share_slices=bool(payload.get("share_slices")),
        )
        invariant(spec.function_kind in _EVALUATED, f"function_kind is {spec.function_kind!r}")
        invariant(spec.incremental_kind in _INCREMENTAL, f"incremental_kind is {spec.incremental_kind!r}")
        return spec

    @property
    def event_time(self) -> bool:
        """True for windows of event time."""
        return bool(self.assigner.is_event_time())

    @property
    def merging(self) -> bool:
        """True for merging windows."""
        return isinstance(self.assigner, MergingWindowAssigner)

    @property
    def full_windows_end(self) -> bool:
        """True if a window receives no more elements once it has fired, so that its contents can be dropped.

        This holds for count windows whose trigger counts to their size. They have no end in time: nothing else would drop them.
        """
        if type(self.assigner) not in (CountTumblingWindowAssigner, CountSlidingWindowAssigner) or type(self.trigger) is not CountTrigger:
            return False
        return bool(self.assigner._window_size == self.trigger._window_size)

    @property
    def functions(self) -> list[Function]:
        """The user's function objects, to be opened and closed."""
        return [f for f in (self.incremental, self.function) if isinstance(f, Function)]
