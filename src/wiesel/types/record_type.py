"""Internal. The type of a stream's records, for type checkers: ``DataStream[int]``. Where a program says nothing it is ``Any``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing import Any

    import typing_extensions  # its stubs come with every type checker; nothing of it is needed to run

    T = typing_extensions.TypeVar("T", default=Any)
else:
    T = TypeVar("T")

R = TypeVar("R")

__all__ = ["R", "T"]
