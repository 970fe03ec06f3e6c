"""Ids of jobs."""

from __future__ import annotations

import uuid

from wiesel.core.errors import ProgramError

__all__ = ["JobID"]


class JobID:
    """The id of a job: 32 hex digits.

    Args:
        value: The digits; None for a random id.

    Raises:
        ProgramError: If they are not 32 hex digits.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str | None = None) -> None:
        value = uuid.uuid4().hex if value is None else value
        if len(value) != 32 or not set(value) <= set("0123456789abcdef"):
            raise ProgramError(f"{value!r} is not a job id", hint="a job id has 32 hex digits, as 'wiesel list' shows it")
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JobID) and self._value == other._value

    def __hash__(self) -> int:
        return hash((JobID, self._value))

    def __str__(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"JobID({self._value!r})"
