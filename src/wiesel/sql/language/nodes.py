"""Internal. AST nodes of Flink's queries in addition to sqlglot's."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp

from wiesel.types.logical import DataType

__all__ = [
    "Call",
    "DataTypeNode",
    "Descriptor",
    "Hint",
    "MatchRecognize",
    "ModelArgument",
    "NamedArgument",
    "PatternAlternatives",
    "PatternExclusion",
    "PatternPermutation",
    "PatternQuantifier",
    "PatternSequence",
    "PatternVariable",
    "TableArgument",
]


class DataTypeNode(exp.Expression):
    """A data type; ``this`` is its text in the notation of SQL."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}

    @property
    def data_type(self) -> DataType:
        """The type."""
        return self.meta["data_type"]  # type: ignore[no-any-return]


class Call(exp.Expression, exp.Func):
    """A call of a function with words between its arguments, such as ``JSON_VALUE(a, 'b' RETURNING INT)``.

    ``this`` is the name in capitals, ``words`` the words behind the arguments in capitals, ``returning`` a data type and ``defaults``
    what stands behind DEFAULT, in order.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False, "words": False, "returning": False, "defaults": False}


class TableArgument(exp.Expression):
    """``TABLE t [PARTITION BY a, b] [ORDER BY c]`` as an argument of a table function."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partition_by": False, "order": False}


class ModelArgument(exp.Expression):
    """``MODEL m`` as an argument of a table function."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Descriptor(exp.Expression):
    """``DESCRIPTOR(a, b)``: columns by their names."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class NamedArgument(exp.Expression):
    """``name => value``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class Hint(exp.Expression):
    """One of ``/*+ NAME(a, b) */`` or ``/*+ NAME('k' = 'v') */``; ``this`` is its name in capitals."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}

    @property
    def arguments(self) -> tuple[str | tuple[str, str], ...]:
        """Strings, and pairs of them."""
        return self.meta["arguments"]  # type: ignore[no-any-return]


class MatchRecognize(exp.Expression):
    """``MATCH_RECOGNIZE`` of a table.

    ``rows`` and ``after`` are strings in capitals (``ONE ROW PER MATCH``, ``SKIP TO LAST``), ``skip_to`` the variable to skip to,
    ``subsets`` aliases of tuples of variables, ``define`` aliases of conditions.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "partition_by": False,
        "order": False,
        "measures": False,
        "rows": False,
        "after": False,
        "skip_to": False,
        "pattern": True,
        "within": False,
        "subsets": False,
        "define": True,
        "alias": False,
    }


class PatternVariable(exp.Expression):
    """A variable of a pattern; ``this`` is its identifier."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class PatternSequence(exp.Expression):
    """One after the other; ``starts`` and ``ends`` for ``^`` and ``$``."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True, "starts": False, "ends": False}


class PatternAlternatives(exp.Expression):
    """One of several: ``A | B``."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class PatternPermutation(exp.Expression):
    """``PERMUTE(A, B)``."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class PatternExclusion(exp.Expression):
    """``{- A -}``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class PatternQuantifier(exp.Expression):
    """``A{2,3}?``: meta ``least`` and ``most`` (None: any number) and ``reluctant``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}

    @staticmethod
    def of(this: exp.Expr, least: int, most: int | None, reluctant: bool) -> PatternQuantifier:
        """Return the quantifier of a part of a pattern."""
        made = PatternQuantifier(this=this)
        made.meta.update(least=least, most=most, reluctant=reluctant)
        return made

    @property
    def bounds(self) -> tuple[int, int | None, bool]:
        """Least and most, and whether as few as possible are taken."""
        values: tuple[Any, ...] = tuple(self.meta[name] for name in ("least", "most", "reluctant"))
        return values[0], values[1], values[2]
