"""Internal. OVER: aggregates of the rows around each row."""

from __future__ import annotations

from wiesel.sql.binding.selection import Selection

__all__ = ["over_windows"]


def over_windows(selection: Selection) -> None:
    """Add the columns of calls with OVER."""
    for clause, name in (("windows", "WINDOW"), ("qualify", "QUALIFY")):
        if selection.node.args.get(clause):
            raise selection.refuse(selection.node, f"{name} is not supported in this version")
