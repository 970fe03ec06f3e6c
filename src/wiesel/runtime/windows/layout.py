"""Internal. Checks that restored window state has the layout of the operator, with or without slices."""

from __future__ import annotations

from typing import Any

from wiesel.core.errors import StateMigrationError
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.windows.contents import CONTENTS, make_contents
from wiesel.runtime.windows.merging import MERGING_SET
from wiesel.runtime.windows.spec import WindowSpec

__all__ = ["AGGREGATES", "POSITIONS", "SLICES", "TABLES", "check_slices", "check_unshared"]

SLICES = "window-slices"
"""Name of the table of slices, and of the operator state with their definition."""

AGGREGATES = "window-slice-aggregates"
POSITIONS = "window-slice-positions"
"""Names of the tables of the queues of slices."""

TABLES = frozenset({CONTENTS, MERGING_SET, SLICES, AGGREGATES, POSITIONS})
"""All tables of windows, as opposed to user functions."""

_OTHERWISE = "start without this operator's state (another uid)"


def check_unshared(context: OperatorContext, spec: WindowSpec) -> None:
    """Check the restored state of an operator whose windows do not share slices.

    Raises:
        StateMigrationError: If there are slices.
    """
    if SLICES in context.backend.operator_state.list_names() and _has_entries(context, spec, SLICES):
        what = "the restored windows have shared slices, which these do not"
        raise StateMigrationError(what, hint=f"call share_slices() as before, or {_OTHERWISE}", operator=context.name)


def check_slices(context: OperatorContext, spec: WindowSpec, restored: list[tuple[int, ...]], own: tuple[int, ...]) -> None:
    """Check the restored state of an operator whose windows share slices.

    Args:
        context: The context of the operator.
        spec: The spec of the operator.
        restored: Size, slide and offset of the restored windows, from each subtask.
        own: Size, slide and offset of the operator.

    Raises:
        StateMigrationError: If there are unshared windows, or slices of other windows.
    """
    other = next((cut for cut in restored if cut != own), None)
    if other is not None and _has_entries(context, spec, SLICES):
        size, slide, offset = other
        raise StateMigrationError(
            f"the restored slices are of windows of {size} ms every {slide} ms (offset {offset}), not of {spec.assigner!r}",
            hint=f"restore with the windows of before, or {_OTHERWISE}",
            operator=context.name,
        )
    if not restored and _has_entries(context, spec, CONTENTS):
        what = "the restored windows have no shared slices"
        raise StateMigrationError(what, hint=f"leave out share_slices(), or {_OTHERWISE}", operator=context.name)


def _has_entries(context: OperatorContext, spec: WindowSpec, name: str) -> bool:
    table: Any = make_contents(context.backend, spec, name).table
    return next(iter(table.scan()), None) is not None
