"""What a statement returned."""

from enum import Enum

__all__ = ["ResultKind"]


class ResultKind(Enum):
    """Whether a statement has returned rows, or only succeeded."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1

    def __str__(self) -> str:
        return self.name
