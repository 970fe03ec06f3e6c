"""Internal. GROUP BY and DISTINCT."""

from __future__ import annotations

from wiesel.sql.binding.selection import Selection

__all__ = ["distinct", "group_by"]


def group_by(selection: Selection) -> None:
    """Group the rows."""
    for clause, name in (("group", "GROUP BY"), ("having", "HAVING")):
        if selection.node.args.get(clause):
            raise selection.refuse(selection.node.args[clause], f"{name} is not supported in this version")


def distinct(selection: Selection) -> None:
    """Leave one of equal rows."""
    if selection.node.args.get("distinct"):
        raise selection.refuse(selection.node, "SELECT DISTINCT is not supported in this version")
