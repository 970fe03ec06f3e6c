"""Internal. Which columns the names in a query may mean."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from wiesel.columnar.expressions import InputRef
from wiesel.core.errors import ProgramError
from wiesel.sql.plan import Field
from wiesel.types.logical import quoted

__all__ = ["Scope", "Source"]


@dataclass(frozen=True)
class Source:
    """One item of FROM: its name (None where it has none), its columns, and the index of the first."""

    name: str | None
    fields: tuple[Field, ...]
    start: int


class Scope:
    """The items of FROM, side by side. Names of columns are told apart by case, as in Flink."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns."""
        return tuple(field for source in self.sources for field in source.fields)

    def columns(self, qualifier: str | None = None) -> list[InputRef]:
        """Return the columns that a star stands for: all, or those of the item of a name."""
        chosen = [source for source in self.sources if qualifier is None or source.name == qualifier]
        return [
            InputRef(field.data_type, source.start + index, field.name) for source in chosen for index, field in enumerate(source.fields)
        ]

    def source(self, name: str) -> Source | None:
        """Return the item of a name."""
        return next((source for source in self.sources if source.name == name), None)

    def resolve(self, name: str, qualifier: str | None = None) -> InputRef:
        """Return the column of a name.

        Raises:
            ProgramError: If there is none, or more than one.
        """
        chosen = [source for source in self.sources if qualifier is None or source.name == qualifier]
        if qualifier is not None and not chosen:
            near = difflib.get_close_matches(qualifier, [source.name for source in self.sources if source.name], n=1)
            raise ProgramError(f"table {quoted(qualifier)} is not known here", hint=f"did you mean {quoted(near[0])}?" if near else None)
        found = [
            InputRef(field.data_type, source.start + index, name)
            for source in chosen
            for index, field in enumerate(source.fields)
            if field.name == name
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise ProgramError(f"column {quoted(name)} is ambiguous", hint="put the table's name and a dot before it")
        names = [field.name for source in chosen for field in source.fields]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {quoted(near[0])}?" if near else f"the columns are: {', '.join(map(quoted, names))}"
        raise ProgramError(f"column {quoted(name)} was not found", hint=hint)
