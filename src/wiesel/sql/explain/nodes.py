"""Internal. Operators of a plan as EXPLAIN writes them, and their tree as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from wiesel.sql.plan.changelog import APPEND, Changes
from wiesel.sql.plan.relations import Relation

__all__ = ["PlanNode", "tree"]


@dataclass(eq=False)
class PlanNode:
    """An operator of a plan.

    Attributes:
        name: The name of its kind in Flink.
        attributes: What else there is to say of it.
        names: The names of its columns.
        inputs: The operators that it reads.
        relation: The relation whose rows it returns; None for an operator that is a part of another one.
        changes: Which kinds of changes it may emit.
        needs_before: From the index of an input, and whether ``-U`` is wanted of the operator, to whether it needs ``-U`` of that input.
        sends_before: Whether ``-U`` of updates is wanted of it.
        passes: Whether it hands the changes of its inputs on, all of them.
        is_sink: Whether it emits nothing.
    """

    name: str
    attributes: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    inputs: tuple[PlanNode, ...] = ()
    relation: Relation | None = None
    changes: Changes = APPEND
    needs_before: Callable[[int, bool], bool] = field(default=lambda index, wanted: wanted)
    sends_before: bool = False
    passes: bool = False
    is_sink: bool = False

    def text(self, *more: tuple[str, str], first: tuple[tuple[str, str], ...] = ()) -> str:
        """Return the operator in a line, with further attributes."""
        attributes = ", ".join(f"{name}=[{value}]" for name, value in (*first, *self.attributes, *more))
        return f"{self.name}({attributes})" if attributes else self.name

    @property
    def changelog_mode(self) -> str:
        """The kinds of changes that it emits, as Flink abbreviates them."""
        if self.is_sink:
            return "NONE"
        letters = {"I": True, "UB": self.emits_before, "UA": self.changes.updates, "D": self.changes.deletes}
        return ",".join(letter for letter, emitted in letters.items() if emitted)

    @property
    def emits_before(self) -> bool:
        """True if updates come with ``-U``."""
        wanted = any(below.emits_before for below in self.inputs) if self.passes else self.sends_before
        return self.changes.updates and wanted

    def want_before(self, wanted: bool) -> None:
        """Decide which operators below emit ``-U``, from whether the reader of this one wants it."""
        self.sends_before = self.sends_before or wanted
        for index, below in enumerate(self.inputs):
            below.want_before(self.needs_before(index, wanted) and below.changes.updates)

    def walk(self) -> Iterator[PlanNode]:
        """Yield the operator and all below it, from the top."""
        yield self
        for below in self.inputs:
            yield from below.walk()


def tree(root: PlanNode, line: Callable[[PlanNode], str], stops: Callable[[PlanNode], bool] = lambda node: False) -> list[str]:
    """Return the lines of a plan.

    Args:
        root: Its last operator.
        line: Returns the line of an operator.
        stops: Whether what is below an operator is left out.
    """
    stopped = stops(root)
    lines = [line(root)]
    below = () if stopped else root.inputs
    for place, node in enumerate(below):
        last = place == len(below) - 1
        head, *rest = tree(node, line, stops)
        lines.append(f"{'+- ' if last else ':- '}{head}")
        lines += [f"{'   ' if last else ':  '}{each}" for each in rest]
    return lines
