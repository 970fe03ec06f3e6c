"""Internal. Paths into JSON, as Flink takes them (those of the library Jayway JsonPath): ``$.a[0].b``, ``$..b``, ``$.a[?(@.b > 1)]``."""

from __future__ import annotations

import decimal
import json
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

__all__ = ["Path", "compile_path", "parse_json", "to_json"]

Value = Any
Step = Callable[[Value], Iterator[Value]]


def parse_json(text: str) -> Value:
    """Return the value of a text, fractions as decimals.

    Raises:
        ValueError: If it is no JSON.
    """
    return json.loads(text, parse_float=decimal.Decimal, parse_constant=_refuse)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def to_json(value: Value) -> str:
    """Return the shortest text of a value; decimals keep their digits."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{to_json(key)}:{to_json(part)}' for key, part in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(to_json, value))}]"
    return str(value) if isinstance(value, decimal.Decimal) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Path:
    """A path, and whether it leads to one place at most (``definite``)."""

    text: str
    strict: bool
    steps: tuple[Step, ...]
    definite: bool

    def find(self, value: Value) -> tuple[bool, Value]:
        """Return whether there is something, and what: all that is there as a list, where the path leads to several places."""
        found = [value]
        for step in self.steps:
            found = [part for one in found for part in step(one)]
        if not self.definite:
            return True, found
        return (True, found[0]) if found else (False, None)


_MODE = re.compile(r"\s*(?:(strict|lax)\s+)?(.*?)\s*", re.DOTALL | re.IGNORECASE)
_NAME = re.compile(r"[^.\[\]()\s]+")
_QUOTED = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\s*")
_COMPARISON = re.compile(r"\s*@((?:\.[^\s=<>!~&|)]+|\[[^\]]*\])*)\s*(?:(==|!=|<=|>=|<|>|=~)\s*(.+?))?\s*")


@lru_cache(maxsize=256)
def compile_path(text: str) -> Path:
    """Return a path.

    Raises:
        ValueError: If it is none, or has parts that are not supported.
    """
    found = _MODE.fullmatch(text)
    mode, body = (found[1], found[2]) if found else (None, text)
    if not body.startswith("$"):
        raise ValueError(f"the path {text!r} does not begin with $")
    steps, definite = _steps(body, 1)
    return Path(text, (mode or "strict").lower() == "strict", tuple(steps), definite)


def _steps(body: str, place: int) -> tuple[list[Step], bool]:
    steps: list[Step] = []
    definite = True
    while place < len(body):
        if body.startswith("..", place):
            steps.append(_descendants)
            definite, place = False, place + 2
            if body.startswith("[", place):
                continue
        elif body.startswith(".[", place):
            place += 1
            continue
        elif body[place] == ".":
            place += 1
        elif body[place] == "[":
            inner, place = _bracketed(body, place)
            step, one = _bracket_step(inner)
            steps.append(step)
            definite = definite and one
            continue
        else:
            raise ValueError(f"the path {body!r} cannot be read at {body[place:]!r}")
        step, one, place = _named(body, place)
        steps.append(step)
        definite = definite and one
    return steps, definite


def _named(body: str, place: int) -> tuple[Step, bool, int]:
    if body.startswith("*", place):
        return _children, False, place + 1
    found = _NAME.match(body, place)
    if found is None or body[found.end() : found.end() + 1] == "(":
        raise ValueError(f"the path {body!r} cannot be read at {body[place:]!r}")
    return _member(found[0]), True, found.end()


def _bracketed(body: str, place: int) -> tuple[str, int]:
    """Return what is between a bracket and the one that closes it."""
    depth, quote, at = 0, "", place
    while at < len(body):
        character = body[at]
        if quote:
            quote = "" if character == quote and body[at - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
            if not depth:
                return body[place + 1 : at].strip(), at + 1
        at += 1
    raise ValueError(f"the path {body!r} has a bracket that is not closed")


def _bracket_step(inner: str) -> tuple[Step, bool]:
    if inner == "*":
        return _children, False
    if inner.startswith("?(") and inner.endswith(")"):
        return _filter(inner[2:-1]), False
    names = _names(inner)
    if names is not None:
        return (_member(names[0]), True) if len(names) == 1 else (_members(names), False)
    if re.fullmatch(r"-?\d+", inner):
        return _element(int(inner)), True
    if re.fullmatch(r"-?\d+(\s*,\s*-?\d+)+", inner):
        return _elements([int(part) for part in inner.split(",")]), False
    if re.fullmatch(r"(-?\d+)?\s*:\s*(-?\d+)?", inner):
        first, last = (int(part) if part.strip() else None for part in inner.split(":"))
        return _slice(first, last), False
    raise ValueError(f"[{inner}] cannot be used in a path")


def _names(inner: str) -> list[str] | None:
    names, place = [], 0
    while True:
        found = _QUOTED.match(inner, place)
        if found is None:
            return None
        names.append(re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2]))
        place = found.end()
        if place == len(inner):
            return names
        if inner[place] != ",":
            return None
        place += 1


def _member(name: str) -> Step:
    def step(value: Value) -> Iterator[Value]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _members(names: list[str]) -> Step:
    return lambda value: iter([{name: value[name] for name in names if name in value}] if isinstance(value, dict) else [])


def _element(place: int) -> Step:
    def step(value: Value) -> Iterator[Value]:
        if isinstance(value, list) and -len(value) <= place < len(value):
            yield value[place]

    return step


def _elements(places: list[int]) -> Step:
    return lambda value: (part for place in places for part in _element(place)(value))


def _slice(first: int | None, last: int | None) -> Step:
    return lambda value: iter(value[first:last] if isinstance(value, list) else [])


def _children(value: Value) -> Iterator[Value]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _descendants(value: Value) -> Iterator[Value]:
    yield value
    for child in _children(value):
        yield from _descendants(child)


_SIGNS: dict[str, Callable[[Any, Any], bool]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _filter(text: str) -> Step:
    test = _condition(text)

    def step(value: Value) -> Iterator[Value]:
        values = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        return (part for part in values if test(part))

    return step


def _condition(text: str) -> Callable[[Value], bool]:
    for sign, combine in (("||", any), ("&&", all)):
        parts = text.split(sign)
        if len(parts) > 1:
            tests = [_condition(part) for part in parts]
            return lambda value, combine=combine: combine(test(value) for test in tests)  # type: ignore[misc]
    found = _COMPARISON.fullmatch(text.strip().removeprefix("(").removesuffix(")") if text.strip().startswith("(") else text)
    if found is None:
        raise ValueError(f"the filter {text!r} is not supported")
    steps, _ = _steps(found[1], 0)
    sign, literal = found[2], found[3]
    if sign is None:
        return lambda value: bool(list(_walked(steps, value)))
    wanted = _literal(literal, sign)
    return lambda value: any(_compared(part, sign, wanted) for part in _walked(steps, value))


def _walked(steps: list[Step], value: Value) -> list[Value]:
    found = [value]
    for step in steps:
        found = [part for one in found for part in step(one)]
    return found


def _literal(text: str, sign: str) -> Value:
    if sign == "=~":
        found = re.fullmatch(r"/(.*)/(i?)", text)
        if found is None:
            raise ValueError(f"{text!r} is no regular expression between slashes")
        return re.compile(found[1], re.IGNORECASE if found[2] else 0)
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return quoted[1] if quoted[1] is not None else quoted[2]
    return parse_json(text)


def _compared(value: Value, sign: str, wanted: Value) -> bool:
    if sign == "=~":
        return isinstance(value, str) and wanted.fullmatch(value) is not None
    same_kind = isinstance(value, bool) == isinstance(wanted, bool)
    if sign in ("==", "!="):
        return (same_kind and value == wanted) == (sign == "==")
    both = isinstance(value, int | decimal.Decimal) and isinstance(wanted, int | decimal.Decimal)
    ordered = same_kind and (both or (isinstance(value, str) and isinstance(wanted, str)))
    return ordered and _SIGNS[sign](value, wanted)
