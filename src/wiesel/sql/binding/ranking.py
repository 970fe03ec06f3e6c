"""Internal. ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...): with a condition on the number outside, the first rows of each partition."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef
from wiesel.sql.binding.keys import partition_keys
from wiesel.sql.binding.problems import meant
from wiesel.sql.binding.selection import Selection
from wiesel.sql.plan.relations import Field, Relation, SortKey, TopN
from wiesel.sql.rules.project import with_columns
from wiesel.types import logical as t

__all__ = ["row_numbers"]


def row_numbers(selection: Selection) -> None:
    """Add the columns of ROW_NUMBER."""
    for item in selection.node.expressions:
        for node in _calls(item):
            selection.binder.known[id(node)] = _numbered(selection, node)


def _calls(node: exp.Expr) -> Iterator[exp.Window]:
    if isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Window) and isinstance(node.this, exp.Anonymous) and node.this.name.upper() == "ROW_NUMBER":
        yield node
        return
    for part in node.iter_expressions():
        yield from _calls(part)


def _numbered(selection: Selection, node: exp.Window) -> Expression:
    if node.this.expressions:
        raise selection.refuse(node, "ROW_NUMBER takes no arguments")
    window = _window(selection, node)
    if window.args.get("spec"):
        raise selection.refuse(node, "ROW_NUMBER takes no ROWS or RANGE", "leave the frame out")
    order = window.args.get("order")
    if order is None:
        raise selection.refuse(node, "ROW_NUMBER needs an ORDER BY")
    partition = partition_keys(selection, window)
    ordered = [selection.binder.bind(part.this) for part in order.expressions]
    below, places = with_columns(selection.relation, [*partition, *ordered])
    keys = tuple(
        SortKey(place, not part.args.get("desc"), bool(part.args.get("nulls_first")))
        for place, part in zip(places[len(partition) :], order.expressions, strict=True)
    )
    number = Field(_name(node, below), t.BigIntType(False))
    selection.relation = TopN(below, places[: len(partition)], keys, number)
    return InputRef(number.data_type, len(below.fields), "ROW_NUMBER")


def _name(node: exp.Window, below: Relation) -> str:
    """Return the name of the column with the numbers, which plans show: the one that it gets in the query, if no other column has it."""
    alias = node.parent.alias if isinstance(node.parent, exp.Alias) else ""
    taken = {field.name for field in below.fields}
    return alias if alias and alias not in taken else "$row_number"


def _window(selection: Selection, node: exp.Window) -> exp.Window:
    """Return the window specification of OVER, or of WINDOW for its name."""
    alias = node.args.get("alias")
    if alias is None:
        return node
    named: dict[str, exp.Window] = {str(window.this.name): window for window in selection.node.args.get("windows") or ()}
    if alias.name not in named:
        raise selection.refuse(alias, f"there is no WINDOW {t.quoted(alias.name)}", meant(t.quoted(alias.name), map(t.quoted, named)))
    return named[alias.name]
