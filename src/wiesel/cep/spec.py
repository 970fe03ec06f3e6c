"""Internal. The specification of the operator of CEP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wiesel.cep.automaton import Automaton
from wiesel.cep.functions import Match, PatternProcessFunction
from wiesel.cep.skip import AfterMatchSkipStrategy

__all__ = ["CepSpec"]


@dataclass(frozen=True)
class CepSpec:
    """Specification of the operator.

    Attributes:
        automaton: The compiled pattern.
        strategy: The after-match skip strategy.
        function: The user's function for matches.
        on_match: Calls it with match and context; returns an iterable of results, or None.
        timeout_function: A separate function for timed-out partial matches, or None.
        on_timeout: As ``on_match`` for these; None if they are ignored.
        event_time: Match events by their timestamps.
        compare: Orders events of the same time, or None.
        late_tag: The side output for late events, or None.
        input_type: The declared type of the events.
        output_type: The declared type of the results.
    """

    automaton: Automaton
    strategy: AfterMatchSkipStrategy
    function: Any
    on_match: Callable[[Match, PatternProcessFunction.Context], Any]
    timeout_function: Any
    on_timeout: Callable[[Match, PatternProcessFunction.Context], Any] | None
    event_time: bool
    compare: Callable[[Any, Any], int] | None
    late_tag: str | None
    input_type: Any
    output_type: Any
