"""Internal. Relations of the matches of a pattern (MATCH_RECOGNIZE)."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.columnar.expressions import Expression
from wiesel.sql.plan.relations import AggregateCall, Fields, Relation, SortKey

__all__ = ["Match", "MatchValue", "MatchVariable"]


@dataclass(frozen=True)
class MatchValue:
    """A value of the rows that a variable has taken: the one in a place, or an aggregate.

    Attributes:
        variable: The variable; None for the rows of all of them.
        column: The column whose value is taken; not looked at where there is a call.
        offset: From the first row (0 and more) or from the last one (-1 and less).
        call: The aggregate.
    """

    variable: str | None
    column: int = 0
    offset: int = -1
    call: AggregateCall | None = None


@dataclass(frozen=True)
class MatchVariable:
    """A variable in the pattern.

    Attributes:
        name: Its name.
        least: How many rows it takes at least.
        most: How many at most; None for any number.
        greedy: Whether it takes as many as it can.
        plain: A column that says of each row whether it may be taken; None where ``condition`` says it, or nothing.
        condition: Says it from ``values``.
        values: What the condition reads.
    """

    name: str
    least: int
    most: int | None
    greedy: bool
    plain: int | None = None
    condition: Expression | None = None
    values: tuple[MatchValue, ...] = ()


@dataclass(frozen=True)
class Match(Relation):
    """A row for each match of a pattern in the rows of a key, in the order of their time.

    Attributes:
        input: The rows, with all columns that values are taken from.
        partition: The columns of the key.
        time: The column with the time; that of the clock stands for the order in which rows come.
        order: Which rows of the same time come first; none for the order in which they come.
        variables: The pattern, one variable behind the other.
        within_ms: The longest time from the first to the last row; None for any.
        skip: Where the next match may begin: ``next``, ``past_last``, ``first`` or ``last``.
        skip_to: The variable of the last two.
        values: What ``outputs`` read.
        outputs: The columns of the result.
        columns: Their names and types.
    """

    input: Relation
    partition: tuple[int, ...]
    time: int
    order: tuple[SortKey, ...]
    variables: tuple[MatchVariable, ...]
    within_ms: int | None
    skip: str
    skip_to: str | None
    values: tuple[MatchValue, ...]
    outputs: tuple[Expression, ...]
    columns: Fields

    @property
    def fields(self) -> Fields:
        """The key, then what MEASURES names."""
        return self.columns
