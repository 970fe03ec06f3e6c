"""Internal. Relations that tell changes by a column, and that make changes of such rows: TO_CHANGELOG and FROM_CHANGELOG."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.sql.plan.relations import Fields, Relation

__all__ = ["FromChangelog", "ToChangelog"]


@dataclass(frozen=True)
class ToChangelog(Relation):
    """Each change as a new row with a code of what happened in front of its columns.

    Attributes:
        input: The changes.
        codes: By kind of change (``+I``, ``-U``, ``+U``, ``-D``) its code; changes of other kinds are left out.
        columns: The code, then the columns of the input.
    """

    input: Relation
    codes: tuple[tuple[str, str], ...]
    columns: Fields

    @property
    def fields(self) -> Fields:
        """The code and the columns of the input."""
        return self.columns


@dataclass(frozen=True)
class FromChangelog(Relation):
    """The changes encoded in insert-only rows.

    Attributes:
        input: The rows.
        op: The column with the code of what happened.
        codes: By code the kind of change.
        columns: Those of the input without the code.
    """

    input: Relation
    op: int
    codes: tuple[tuple[str, str], ...]
    columns: Fields

    @property
    def fields(self) -> Fields:
        """Those of the input without the code."""
        return self.columns
