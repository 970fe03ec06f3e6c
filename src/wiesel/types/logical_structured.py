"""Internal. Structured types in SQL: rows with a class name."""

from __future__ import annotations

import re

from wiesel.core.errors import ProgramError
from wiesel.types.logical import RowField, RowType

__all__ = ["StructuredType"]

_CLASS = re.compile(r"[^\W\d][\w$]*(\.[^\W\d][\w$]*)*")


class StructuredType(RowType):
    """Rows of a class; ``STRUCTURED<'com.example.User', name STRING>``. The name only distinguishes types; no class is loaded."""

    def __init__(self, class_name: str, fields: list[RowField] | None = None, nullable: bool = True) -> None:
        if not _CLASS.fullmatch(class_name):
            raise ProgramError(f"{class_name!r} is no name of a class", hint="write names with dots between them: 'com.example.User'")
        super().__init__(fields, nullable)
        self.class_name = class_name

    def __repr__(self) -> str:
        return f"StructuredType({self.class_name!r}, {','.join(map(repr, self.fields))})"

    def _notation(self) -> str:
        return f"STRUCTURED<'{self.class_name}', {', '.join(field._notation() for field in self.fields)}>"
