"""Internal. Guards of moves: conjunctions of the user's numbered conditions, compiled for fast evaluation."""

from __future__ import annotations

from typing import Any

from wiesel.cep.automaton import Atom, Guard
from wiesel.cep.conditions import TRUE, Condition

__all__ = ["Guards"]


class Guards:
    """Numbers the user's conditions and compiles guards of combined ones."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[Condition] = []

    def make(self, conditions: tuple[Condition, ...]) -> Guard | None:
        """Return the guard of a conjunction, or None if it is contradictory."""
        literals: dict[Any, bool] = {}
        for condition in conditions:
            if not self._add(condition, True, literals):
                return None
        return tuple(literals.items())

    def _add(self, condition: Condition, wanted: bool, literals: dict[Any, bool]) -> bool:
        if condition.kind == "not":
            return self._add(condition.parts[0], not wanted, literals)
        if condition.kind == "true":
            return wanted
        if (condition.kind == "and" and wanted) or (condition.kind == "or" and not wanted):
            return all(self._add(part, wanted, literals) for part in condition.parts)
        return literals.setdefault(self._tree(condition), wanted) is wanted

    def _tree(self, condition: Condition) -> Any:
        if condition.kind == "atom":
            return self._number(condition)
        return condition.kind, tuple(map(self._tree, condition.parts))

    def _number(self, atom: Condition) -> int:
        number = self._numbers.get(id(atom))
        if number is None and atom.function is not None:
            number = self._numbers[id(atom)] = len(self.atoms)
            self._kept.append(atom)  # so that its id stays unique
            self.atoms.append(Atom(atom.function, atom.iterative, atom.owner))
        return -1 if number is None else number


def conjunction(*conditions: Condition | None) -> Condition:
    """Return the conjunction of conditions; None is ignored."""
    joined = TRUE
    for condition in conditions:
        if condition is not None:
            joined = joined.and_(condition)
    return joined


def atoms_of(tree: Any) -> set[int]:
    """Return the numbers of the atoms in a tree."""
    if isinstance(tree, int):
        return {tree}
    return set().union(*map(atoms_of, tree[1]))
