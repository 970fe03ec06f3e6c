"""Internal. Nodes that programs build of expressions and tables, and for which there is no text."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp

__all__ = ["BuiltIn", "FieldAt", "Nullable", "OverAlias", "Plus", "Stand", "Text", "UserCall", "WindowProperty"]


class Stand(exp.Expression):
    """Stands for something that is bound already: an expression, or in FROM the plan of a table.

    ``this`` tells nodes for different things apart, as what stands for the same is equal.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "alias": False}

    @property
    def bound(self) -> Any:
        """The represented bound expression."""
        return self.meta["bound"]

    @staticmethod
    def of(bound: Any, key: str) -> Stand:
        """Return the node of something that is bound."""
        # sqlglot compares strings without regard to capitals.
        node = Stand(this=key.encode().hex())
        node.meta["bound"] = bound
        return node


class BuiltIn(exp.Expression, exp.Func):
    """The call of a function by its name in the registry, with ``options`` in ``meta``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False, "options": False}

    @property
    def options(self) -> tuple[Any, ...]:
        """Options of the call in addition to its operands."""
        return self.meta.get("options", ())  # type: ignore[no-any-return]


class Plus(exp.Expression):
    """The sum of numbers and times; of strings, and of a text and anything else, one behind the other."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class FieldAt(exp.Expression):
    """A field of a row by its place (``place``, from 0 on)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "place": True}


class Nullable(exp.Expression):
    """A value that may be NULL by its type, as the Table API says of some that never are."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Text(exp.Expression):
    """An expression of SQL as it was written."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class UserCall(exp.Expression, exp.Func):
    """The call of a function of the user: what ``udf`` and its like returned, in ``meta``. ``names`` are those that an alias gives."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False}

    @property
    def function(self) -> Any:
        """The function."""
        return self.meta["function"]


class WindowProperty(exp.Expression):
    """Property of the window of an alias (``this``): its ``START``, ``END``, ``ROWTIME`` or ``PROCTIME`` (``kind``)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True}


class OverAlias(exp.Expression):
    """An aggregate (``this``) over the window of an alias (``alias``)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "alias": True}
