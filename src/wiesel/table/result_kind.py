"""Kinds of results of statements."""

from enum import Enum

__all__ = ["ResultKind"]


class ResultKind(Enum):
    """The kind of a result: rows, or success only."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1

    def __str__(self) -> str:
        return self.name
