"""Internal. Patterns as documents: nested dicts and lists, as in JSON and YAML. The structure is described in ``docs/cep.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from wiesel.cep.conditions import Condition
from wiesel.cep.errors import MalformedPatternException, malformed
from wiesel.cep.expressions import Expression, ExpressionError
from wiesel.cep.pattern import GroupPattern, Pattern
from wiesel.cep.quantifier import Contiguity, WithinType
from wiesel.cep.skip import AfterMatchSkipStrategy
from wiesel.core.durations import format_duration

__all__ = ["pattern_from_dict", "pattern_to_dict"]

_LINKS = {
    "next": Contiguity.STRICT,
    "followed_by": Contiguity.RELAXED,
    "followed_by_any": Contiguity.NON_DETERMINISTIC,
    "not_next": Contiguity.NOT_NEXT,
    "not_followed_by": Contiguity.NOT_FOLLOW,
}
_STRATEGIES = ("no_skip", "skip_to_next", "skip_past_last_event", "skip_to_first", "skip_to_last")
_TOP_KEYS = ("patterns", "after_match_skip", "within")
_KEYS = (
    "name", "group", "link", "where", "or_where", "until", "times", "gap", "greedy", "optional", "consecutive", "allow_combinations",
    "within", "within_previous",
)  # fmt: skip


def _error(path: str, message: str, hint: str) -> MalformedPatternException:
    return malformed(f"{path or 'the document'}: {message}", hint)


def _at(path: str, call: Callable[[], Any]) -> Any:
    """Execute a call of the Pattern API and add the path in the document to its errors."""
    try:
        return call()
    except MalformedPatternException as error:
        location = str(error.details.get("location") or "")
        message = error.message.removesuffix(f" (at {location})")
        raise _error(path, message, error.hint or "") from None


def _mapping(value: Any, path: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _error(path, f"a mapping is needed, got {value!r:.80}", f"its keys can be {', '.join(keys)}")
    for key in value:
        if key not in keys:
            raise _error(f"{path}.{key}".lstrip("."), "there is no such key", f"use one of {', '.join(keys)}")
    return value


def _flag(step: Mapping[str, Any], key: str, path: str) -> bool:
    value = step.get(key, False)
    if not isinstance(value, bool):
        raise _error(f"{path}.{key}", f"true or false is needed, got {value!r:.80}", f"write {key}: true, or leave it out")
    return value


def pattern_from_dict(document: Any) -> Pattern:
    """See :meth:`Pattern.from_dict`."""
    top = _mapping(document, "", _TOP_KEYS)
    steps: Any = top.get("patterns")
    names = _names(steps, "patterns")
    pattern = _sequence(steps, "patterns", _strategy(top.get("after_match_skip", "no_skip")), names)
    if "within" in top:
        _at("within", lambda: pattern.within(top["within"]))
    from wiesel.cep.compiler import compile_pattern

    _at("", lambda: compile_pattern(pattern))
    return pattern


def _names(steps: Any, path: str) -> list[str]:
    """Return the names of all patterns, including those inside groups, for conditions."""
    if not isinstance(steps, list) or not steps:
        raise _error(path, f"a list of patterns is needed, got {steps!r:.80}", "give at least one pattern with a name")
    found: list[str] = []
    for index, step in enumerate(steps):
        here = f"{path}[{index}]"
        _mapping(step, here, _KEYS)
        if ("name" in step) == ("group" in step):
            raise _error(here, "a pattern has either a name or a group", "give name: ..., or group: [...]")
        if "group" in step:
            found += _names(step["group"], f"{here}.group")
        elif not isinstance(step["name"], str) or not step["name"]:
            raise _error(f"{here}.name", f"a text is needed, got {step['name']!r:.80}", "give the pattern a name")
        else:
            found.append(step["name"])
    return found


def _strategy(value: Any) -> AfterMatchSkipStrategy:
    path = "after_match_skip"
    spec = _mapping({"strategy": value} if isinstance(value, str) else value, path, ("strategy", "pattern", "throw_exception_on_miss"))
    kind = spec.get("strategy")
    if kind not in _STRATEGIES:
        raise _error(f"{path}.strategy", f"{kind!r} is no strategy", f"use one of {', '.join(_STRATEGIES)}")
    if kind not in ("skip_to_first", "skip_to_last"):
        if len(spec) > 1:
            raise _error(path, f"{kind} takes no pattern", "leave the other keys out")
        return AfterMatchSkipStrategy(str(kind))
    strategy: AfterMatchSkipStrategy = _at(f"{path}.pattern", lambda: getattr(AfterMatchSkipStrategy, kind)(spec.get("pattern")))
    return strategy.throw_exception_on_miss() if _flag(spec, "throw_exception_on_miss", path) else strategy


def _sequence(steps: list[Any], path: str, strategy: AfterMatchSkipStrategy, names: list[str]) -> Pattern:
    pattern: Pattern | None = None
    for index, step in enumerate(steps):
        here = f"{path}[{index}]"
        part: Any = step.get("name")
        if "group" in step:
            part = _sequence(step["group"], f"{here}.group", AfterMatchSkipStrategy.no_skip(), names)
        pattern = _begin(step, here, part, strategy) if pattern is None else _append(pattern, step, here, part)
        _describe(pattern, step, here, names)
    if pattern is None:
        raise _error(path, "there is no pattern", "give at least one")
    return pattern


def _begin(step: Mapping[str, Any], path: str, part: Any, strategy: AfterMatchSkipStrategy) -> Pattern:
    if "link" in step:
        raise _error(f"{path}.link", "the first pattern follows on nothing", "leave it out")
    return Pattern.begin(part, strategy)


def _append(before: Pattern, step: Mapping[str, Any], path: str, part: Any) -> Pattern:
    link = step.get("link")
    if link not in _LINKS:
        raise _error(f"{path}.link", f"{link!r} does not say how the pattern follows on the one before", f"use one of {', '.join(_LINKS)}")
    pattern: Pattern = _at(f"{path}.link", lambda: getattr(before, link)(part))
    return pattern


def _describe(pattern: Pattern, step: Mapping[str, Any], path: str, names: list[str]) -> None:
    for key in ("where", "or_where"):
        for index, text in enumerate(_strings(step.get(key, []), f"{path}.{key}")):
            here = f"{path}.{key}" if isinstance(step[key], str) else f"{path}.{key}[{index}]"
            condition = _condition(text, here, names)
            _at(here, partial(getattr(pattern, key), condition))
    _describe_times(pattern, step, path)
    if "until" in step:
        stop = _condition(step["until"], f"{path}.until", names)
        _at(f"{path}.until", lambda: pattern.until(stop))
    for key in ("consecutive", "allow_combinations", "greedy", "optional"):
        if _flag(step, key, path):
            _at(f"{path}.{key}", getattr(pattern, key))
    if "within" in step:
        _at(f"{path}.within", lambda: pattern.within(step["within"]))
    if "within_previous" in step:
        _at(f"{path}.within_previous", lambda: pattern.within(step["within_previous"], WithinType.PREVIOUS_AND_CURRENT))


def _strings(value: Any, path: str) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return value
    raise _error(path, f"an expression or a list of them is needed, got {value!r:.80}", "e.g. amount > 500")


def _condition(text: Any, path: str, names: list[str]) -> Condition:
    if not isinstance(text, str) or not text.strip():
        raise _error(path, f"an expression is needed, got {text!r:.80}", "e.g. amount > 500")
    try:
        expression = Expression(text, names)
    except ExpressionError as error:
        raise _error(path, str(error), "the page on patterns lists what expressions can say") from None
    return Condition("atom", function=expression, iterative=expression.iterative, text=text)


def _describe_times(pattern: Pattern, step: Mapping[str, Any], path: str) -> None:
    gap = step.get("gap")
    if "times" not in step:
        if gap is not None:
            raise _error(f"{path}.gap", "a gap is between several events of a pattern", "give times as well, or use within_previous")
        return
    here, times = f"{path}.times", step["times"]
    if isinstance(times, int):
        _at(here, lambda: pattern.times(times, None, gap))
        return
    bounds = _mapping(times, here, ("from", "to"))
    if "from" not in bounds:
        raise _error(here, "the lower bound is missing", "give a number, or from: and perhaps to:")
    if "to" in bounds:
        _at(here, lambda: pattern.times(bounds["from"], bounds["to"], gap))
    else:
        _at(here, lambda: pattern.times_or_more(bounds["from"], gap))


def pattern_to_dict(pattern: Pattern) -> dict[str, Any]:
    """See :meth:`Pattern.to_dict`."""
    document: dict[str, Any] = {"patterns": _steps(pattern, "patterns")}
    strategy = pattern.get_after_match_skip_strategy()
    if strategy.pattern_name is not None:
        document["after_match_skip"] = {"strategy": strategy.kind, "pattern": strategy.pattern_name}
        if strategy.throws_on_miss:
            document["after_match_skip"]["throw_exception_on_miss"] = True
    elif strategy.is_skip_strategy():
        document["after_match_skip"] = strategy.kind
    return document


def _steps(pattern: Pattern, path: str) -> list[dict[str, Any]]:
    return [_step(part, f"{path}[{index}]") for index, part in enumerate(pattern._sequence())]


def _step(pattern: Pattern, path: str) -> dict[str, Any]:
    quantifier = pattern.get_quantifier()
    step: dict[str, Any] = {}
    if isinstance(pattern, GroupPattern):
        step["group"] = _steps(pattern.get_raw_pattern(), f"{path}.group")
    else:
        step["name"] = pattern.get_name()
    if pattern.get_previous() is not None:
        step["link"] = next(link for link, contiguity in _LINKS.items() if contiguity is quantifier.consuming)
    if pattern._condition is not None:
        step["where"] = _text(pattern._condition, f"{path}.where")
    if quantifier.kind != "single":
        step["times"] = (
            {"from": quantifier.minimum} if quantifier.maximum is None else {"from": quantifier.minimum, "to": quantifier.maximum}
        )
    if quantifier.gap_ms is not None:
        step["gap"] = f"{quantifier.gap_ms} ms"
    if pattern._until is not None:
        step["until"] = _text(pattern._until, f"{path}.until")
    flags = {
        "consecutive": quantifier.inner is Contiguity.STRICT,
        "allow_combinations": quantifier.inner is Contiguity.NON_DETERMINISTIC,
        "greedy": quantifier.greedy,
        "optional": quantifier.optional,
    }
    step.update({key: True for key, value in flags.items() if value})
    for key, kind in (("within", WithinType.FIRST_AND_LAST), ("within_previous", WithinType.PREVIOUS_AND_CURRENT)):
        window = pattern.get_window_size(kind)
        if window is not None:
            step[key] = format_duration(window)
    return step


def _text(condition: Condition, path: str) -> str:
    if condition.kind == "atom" and condition.text is not None:
        return condition.text
    if condition.kind in ("and", "or"):
        return f" {condition.kind} ".join(f"({_text(part, path)})" for part in condition.parts)
    raise _error(path, "the condition is a function, which cannot be written down", "build the pattern with Pattern.from_dict")
