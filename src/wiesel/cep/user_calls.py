"""Internal. Adapters of select functions to the common form: called with match and context, returning an iterable of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wiesel.cep.functions import Match, PatternProcessFunction
from wiesel.spi.functions import user_callable
from wiesel.spi.output_tag import OutputTag

__all__ = ["FlatSelect", "FlatTimeout", "Select", "Timeout"]

Context = PatternProcessFunction.Context


class Select:
    """One result per match."""

    def __init__(self, function: Any) -> None:
        self._call: Callable[..., Any] = user_callable(function, "select")

    def __call__(self, match: Match, ctx: Context) -> Iterable[Any]:
        return (self._call(match),)


class FlatSelect:
    """Any number of results per match."""

    def __init__(self, function: Any) -> None:
        self._call: Callable[..., Any] = user_callable(function, "flat_select")

    def __call__(self, match: Match, ctx: Context) -> Any:
        return self._call(match)


class Timeout:
    """One result per timed-out partial match, to a side output."""

    def __init__(self, tag: OutputTag | None, function: Any) -> None:
        self._tag = tag
        self._call: Callable[..., Any] = user_callable(function, "timeout")

    def __call__(self, match: Match, ctx: Context) -> Iterable[Any]:
        return ((self._tag, self._call(match, ctx.timestamp())),)


class FlatTimeout(Timeout):
    """Any number of results per timed-out partial match, to a side output."""

    def __call__(self, match: Match, ctx: Context) -> Iterable[Any]:
        return [(self._tag, result) for result in self._call(match, ctx.timestamp()) or ()]
