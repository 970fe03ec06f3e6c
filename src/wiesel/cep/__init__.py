"""Complex event processing: detection of patterns in event streams. Flink's CEP library (the Pattern API) in Python.

::

    from wiesel.cep import CEP, Pattern

    pattern = Pattern.begin("small").where(lambda p: p["sum"] < 1).next("large").where(lambda p: p["sum"] > 500).within("1 min")
    alerts = CEP.pattern(payments.key_by(lambda p: p["card"]), pattern).select(lambda match: match["large"][0]["card"])

The how-to is ``docs/cep.md``.
"""

from typing import TYPE_CHECKING

from wiesel.core.lazy_names import lazy_names
from wiesel.runtime.registry import register

if TYPE_CHECKING:
    from wiesel.cep.conditions import IterativeCondition, RichIterativeCondition, SimpleCondition
    from wiesel.cep.errors import MalformedPatternException
    from wiesel.cep.functions import (
        EventComparator,
        PatternFlatSelectFunction,
        PatternFlatTimeoutFunction,
        PatternProcessFunction,
        PatternSelectFunction,
        PatternTimeoutFunction,
        TimedOutPartialMatchHandler,
    )
    from wiesel.cep.pattern import GroupPattern, Pattern
    from wiesel.cep.pattern_stream import CEP, PatternStream
    from wiesel.cep.quantifier import Quantifier, WithinType
    from wiesel.cep.skip import AfterMatchSkipStrategy

__all__ = [
    "CEP",
    "AfterMatchSkipStrategy",
    "EventComparator",
    "GroupPattern",
    "IterativeCondition",
    "MalformedPatternException",
    "Pattern",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternStream",
    "PatternTimeoutFunction",
    "Quantifier",
    "RichIterativeCondition",
    "SimpleCondition",
    "TimedOutPartialMatchHandler",
    "WithinType",
]

# Imported when a worker unpickles the operator's specification; the rest is loaded lazily.
register("cep", "wiesel.cep.operator:cep_operator")

_MODULES = {
    "conditions": ("IterativeCondition", "RichIterativeCondition", "SimpleCondition"),
    "errors": ("MalformedPatternException",),
    "functions": (
        "EventComparator",
        "PatternFlatSelectFunction",
        "PatternFlatTimeoutFunction",
        "PatternProcessFunction",
        "PatternSelectFunction",
        "PatternTimeoutFunction",
        "TimedOutPartialMatchHandler",
    ),
    "pattern": ("GroupPattern", "Pattern"),
    "pattern_stream": ("CEP", "PatternStream"),
    "quantifier": ("Quantifier", "WithinType"),
    "skip": ("AfterMatchSkipStrategy",),
}

_PLACES = {name: f"wiesel.cep.{module}" for module, names in _MODULES.items() for name in names}

__getattr__, __dir__, _ = lazy_names(__name__, _PLACES)
