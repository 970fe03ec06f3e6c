"""Internal. PATTERN of MATCH_RECOGNIZE: variables one behind the other, each with how often it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from wiesel.sql.binding.problems import problem
from wiesel.sql.language import nodes

__all__ = ["PatternPart", "pattern_parts"]

_REFUSED: dict[type[exp.Expr], str] = {
    nodes.PatternAlternatives: "alternatives are not supported in PATTERN",
    nodes.PatternPermutation: "PERMUTE is not supported in PATTERN",
    nodes.PatternExclusion: "exclusions are not supported in PATTERN",
    nodes.PatternSequence: "groups with a quantifier are not supported in PATTERN",
}


@dataclass(frozen=True)
class PatternPart:
    """A variable, how many rows it takes at least and at most (None: any number), and whether it takes as many as it can."""

    name: str
    least: int
    most: int | None
    greedy: bool


def pattern_parts(sql: str, node: exp.Expr) -> list[PatternPart]:
    """Return the variables of a pattern.

    Raises:
        SqlParseError: If it has what is not supported; tells the place.
    """
    if isinstance(node, nodes.PatternSequence) and (node.args.get("starts") or node.args.get("ends")):
        raise problem(sql, node, "^ and $ are not supported in PATTERN")
    each = _in_sequence(node)
    parts = [_part(sql, one) for one in each]
    seen: set[str] = set()
    for one, part in zip(each, parts, strict=True):
        if part.name in seen:
            raise problem(sql, one, f"variable {part.name} stands in PATTERN twice", "give each place a variable of its own")
        seen.add(part.name)
    if not any(part.least for part in parts):
        raise problem(sql, node, "a pattern that matches no rows at all is not supported", "let one variable take at least one row")
    if parts[-1].greedy:
        hint = "end it with a variable without a quantifier, or write ? behind the quantifier"
        raise problem(sql, each[-1], "a greedy quantifier at the end of PATTERN is not supported", hint)
    return parts


def _in_sequence(node: exp.Expr) -> list[Any]:
    """Return the parts of a sequence; parentheses without a quantifier change nothing."""
    if not isinstance(node, nodes.PatternSequence) or node.args.get("starts") or node.args.get("ends"):
        return [node]
    return [part for each in node.expressions for part in _in_sequence(each)]


def _part(sql: str, node: Any) -> PatternPart:
    most: int | None
    least, most, reluctant = 1, 1, False
    inner = node
    if isinstance(node, nodes.PatternQuantifier):
        least, most, reluctant = node.bounds
        inner = node.this
    if not isinstance(inner, nodes.PatternVariable):
        message = _REFUSED.get(type(inner), "this is not supported in PATTERN")
        raise problem(sql, inner, message, "write variables with quantifiers, one behind the other")
    if most is not None and (most < 1 or most < least):
        raise problem(sql, node, "a quantifier needs a largest number that is at least 1 and at least the smallest")
    if reluctant and (least, most) == (0, 1):
        raise problem(sql, node, "?? is not supported in PATTERN")
    # What comes a fixed number of times, or once if at all, is neither.
    greedy = not reluctant and least != most and (least, most) != (0, 1)
    return PatternPart(inner.this.name, least, most, greedy)
