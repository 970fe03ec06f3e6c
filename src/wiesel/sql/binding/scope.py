"""Internal. Scopes of column names in queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wiesel.columnar.expressions import Expression, InputRef
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.problems import meant
from wiesel.sql.plan.relations import Field
from wiesel.types.logical import quoted

__all__ = ["OuterRef", "Scope", "Source"]


@dataclass(frozen=True)
class OuterRef(Expression):
    """A column of a query around this one: of the next one, or of the one ``level`` queries above."""

    index: int
    name: str = ""
    level: int = 1


@dataclass(frozen=True)
class Source:
    """One item of FROM: its name (None where it has none), its columns, and the index of the first."""

    name: str | None
    fields: tuple[Field, ...]
    start: int

    def nullable(self) -> Source:
        """Return the item as the side of an outer join that may be missing."""
        return replace(self, fields=tuple(replace(field, data_type=field.data_type.nullable()) for field in self.fields))

    def column(self, index: int) -> InputRef:
        """Return one of the columns."""
        return InputRef(self.fields[index].data_type, self.start + index, self.fields[index].name)


class Scope:
    """The items of FROM, side by side. Names of columns are told apart by case, as in Flink.

    ``merged`` are the columns that joins with USING or NATURAL have made one of several; ``outer`` are the names of the query around.
    """

    def __init__(
        self, sources: Sequence[Source], merged: Mapping[str, Expression] | None = None, outer: Scope | None = None
    ) -> None:
        self.sources = tuple(sources)
        self.merged = dict(merged or {})
        self.outer = outer

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns."""
        return tuple(field for source in self.sources for field in source.fields)

    def columns(self, qualifier: str | None = None) -> list[tuple[Expression, str]]:
        """Return the columns that a star stands for: all, or those of the item of a name."""
        chosen = [source for source in self.sources if qualifier is None or source.name == qualifier]
        found = [(source.column(index), field.name) for source in chosen for index, field in enumerate(source.fields)]
        if qualifier is not None:
            return list(found)
        return [(column, name) for name, column in self.merged.items()] + [each for each in found if each[1] not in self.merged]

    def source(self, name: str) -> Source | None:
        """Return the item of a name."""
        return next((source for source in self.sources if source.name == name), None)

    def unknown_source(self, name: str) -> ProgramError:
        """Return the error for a name that no item has."""
        hint = meant(quoted(name), [quoted(source.name) for source in self.sources if source.name])
        return ProgramError(f"table {quoted(name)} is not known here", hint=hint)

    def resolve(self, name: str, qualifier: str | None = None) -> Expression:
        """Return the column of a name.

        Raises:
            ProgramError: If there is none, or more than one.
        """
        if qualifier is None and name in self.merged:
            return self.merged[name]
        chosen = [source for source in self.sources if qualifier is None or source.name == qualifier]
        if qualifier is not None and not chosen and self.outer is None:
            raise self.unknown_source(qualifier)
        found = [source.column(index) for source in chosen for index, field in enumerate(source.fields) if field.name == name]
        if len(found) == 1:
            return found[0]
        if self.outer is not None and not found:
            return self._outside(name, qualifier)
        if found:
            raise ProgramError(f"column {quoted(name)} is ambiguous", hint="put the table's name and a dot before it")
        names = [field.name for source in chosen for field in source.fields]
        if names:
            hint = meant(quoted(name), map(quoted, names)) or f"the columns are: {', '.join(map(quoted, names))}"
        else:
            hint = "there is no table here; a text stands between single quotes"
        raise ProgramError(f"column {quoted(name)} was not found", hint=hint)

    def _outside(self, name: str, qualifier: str | None) -> Expression:
        assert self.outer is not None  # noqa: S101 - for the type checker
        found = self.outer.resolve(name, qualifier)
        if isinstance(found, OuterRef):
            return replace(found, level=found.level + 1)
        if not isinstance(found, InputRef):
            message = f"column {quoted(name)}, which a join has merged, cannot be used within a query here"
            raise ProgramError(message, hint="put the table's name and a dot before it")
        return OuterRef(found.data_type, found.index, found.name)
