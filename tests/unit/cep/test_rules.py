"""Patterns as documents, and the expressions of their conditions."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from tests.unit.cep.running import new_tables
from wiesel.cep import CEP, MalformedPatternException, Pattern
from wiesel.cep.compiler import compile_pattern
from wiesel.cep.expressions import Expression, ExpressionError
from wiesel.cep.matcher import Matcher
from wiesel.common import Row
from wiesel.testing import StreamHarness

FRAUD: dict[str, Any] = {
    "within": "1 min",
    "after_match_skip": "skip_past_last_event",
    "patterns": [
        {"name": "small", "where": "amount < 1", "times": {"from": 2}, "greedy": True},
        {"name": "large", "link": "next", "where": ["amount > 500", "amount > 100 * max(small.amount)"]},
    ],
}


def payment(amount: float) -> dict[str, Any]:
    return {"card": 1, "amount": amount}


def test_a_document_runs() -> None:
    pattern = Pattern.from_dict(FRAUD)
    with StreamHarness(
        lambda s: CEP.pattern(s.key_by(lambda e: e["card"]), pattern).select(
            lambda m: [e["amount"] for events in m.values() for e in events]
        )
    ) as h:
        # 0.5 and 0.2 are small; 600 > 500 and 600 > 100 * 0.5.
        h.push_all([payment(x) for x in (0.5, 0.2, 600, 0.5, 600)], [1, 2, 3, 4, 5])
        h.end_input()
        assert h.values == [[0.5, 0.2, 600]]


def test_documents_survive_json_and_come_back() -> None:
    document = Pattern.from_dict(json.loads(json.dumps(FRAUD))).to_dict()
    assert Pattern.from_dict(document).to_dict() == document
    assert document["after_match_skip"] == "skip_past_last_event"
    assert [p["name"] for p in document["patterns"]] == ["small", "large"]
    assert document["patterns"][1]["within"] == "1 min"


EVERYTHING: dict[str, Any] = {
    "after_match_skip": {"strategy": "skip_to_first", "pattern": "b", "throw_exception_on_miss": True},
    "patterns": [
        {"name": "a", "where": "x == 1", "or_where": ["y == 2"]},
        {"name": "n", "link": "not_next", "where": "x == 3"},
        {"name": "b", "link": "followed_by", "times": {"from": 2}, "until": "x == 9", "gap": "5 s", "allow_combinations": True},
        {
            "link": "followed_by_any",
            "group": [{"name": "c"}, {"name": "d", "link": "next", "times": 3, "consecutive": True, "optional": True}],
            "times": {"from": 1, "to": 2},
        },
        {"name": "m", "link": "not_followed_by", "where": "x == 4", "within": "1 min", "within_previous": "10 s"},
    ],
}


def test_every_key_comes_back() -> None:
    document = Pattern.from_dict(EVERYTHING).to_dict()
    assert Pattern.from_dict(document).to_dict() == document
    steps = document["patterns"]
    assert document["after_match_skip"] == EVERYTHING["after_match_skip"]
    assert steps[0] == {"name": "a", "where": "(x == 1) or (y == 2)"}
    assert steps[2] == {
        "name": "b", "link": "followed_by", "times": {"from": 2}, "gap": "5000 ms", "until": "x == 9", "allow_combinations": True,
    }  # fmt: skip
    assert steps[3]["group"][1] == {"name": "d", "link": "next", "times": {"from": 3, "to": 3}, "consecutive": True, "optional": True}
    assert steps[4]["within_previous"] == "10 s"


def test_functions_cannot_be_written_down() -> None:
    with pytest.raises(MalformedPatternException, match=r"patterns\[0\]\.where: the condition is a function"):
        Pattern.begin("a").where(lambda e: True).to_dict()


ONE = {"name": "a"}
WRONG: dict[str, tuple[Any, str]] = {
    "no mapping": ([], "the document: a mapping is needed"),
    "no patterns": ({}, "patterns: a list of patterns is needed"),
    "unknown key": ({"patterns": [{"name": "a", "wheer": "x"}]}, r"patterns\[0\]\.wheer: there is no such key"),
    "no name": ({"patterns": [{}]}, r"patterns\[0\]: a pattern has either a name or a group"),
    "name and group": ({"patterns": [{"name": "a", "group": [ONE]}]}, "either a name or a group"),
    "number as name": ({"patterns": [{"name": 1}]}, r"patterns\[0\]\.name: a text is needed"),
    "link of the first": ({"patterns": [{"name": "a", "link": "next"}]}, r"patterns\[0\]\.link: the first"),
    "no link": ({"patterns": [ONE, {"name": "b"}]}, r"patterns\[1\]\.link: None does not say"),
    "wrong expression": ({"patterns": [{"name": "a", "where": "x >"}]}, r"patterns\[0\]\.where: .*at the end of"),
    "wrong expression of several": ({"patterns": [{"name": "a", "where": ["x", "y("]}]}, r"patterns\[0\]\.where\[1\]"),
    "forbidden expression": ({"patterns": [{"name": "a", "where": "__import__('os')"}]}, "there is no function __import__"),
    "inside a group": ({"patterns": [{"group": [ONE, {"name": "b", "link": "next", "times": 0}]}]}, r"patterns\[0\]\.group\[1\]\.times"),
    "wrong times": ({"patterns": [{"name": "a", "times": {"to": 3}}]}, r"patterns\[0\]\.times: the lower bound"),
    "gap alone": ({"patterns": [{"name": "a", "gap": "1 s"}]}, r"patterns\[0\]\.gap"),
    "wrong flag": ({"patterns": [{"name": "a", "optional": "yes"}]}, r"patterns\[0\]\.optional: true or false"),
    "greedy single": ({"patterns": [{"name": "a", "greedy": True}]}, r"patterns\[0\]\.greedy"),
    "wrong time": ({"patterns": [ONE], "within": "soon"}, "within: .*no length of time"),
    "wrong strategy": ({"patterns": [ONE], "after_match_skip": "none"}, r"after_match_skip\.strategy"),
    "strategy without pattern": ({"patterns": [ONE], "after_match_skip": "skip_to_last"}, r"after_match_skip\.pattern"),
    "same names": ({"patterns": [ONE, {"name": "a", "link": "next"}]}, "have the name 'a'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_place(name: str) -> None:
    document, message = WRONG[name]
    with pytest.raises(MalformedPatternException, match=message):
        Pattern.from_dict(document)


EXPRESSIONS: list[tuple[str, bool]] = [
    ("amount > 500", False),
    ("amount == 10 and kind == 'card'", True),
    ("kind in ['card', 'cash'] or amount < 0", True),
    ("not (kind != 'card')", True),
    ("5 < amount <= 10", True),
    ("amount * 2 + 1 == 21", True),
    ("-amount < 0 and amount % 3 == 1 and amount // 3 == 3 and amount / 4 == 2.5", True),
    ("note is None", True),
    ("note is not None", False),
    ("note > 1 or note < 1", False),  # nothing is greater or less than None
    ("note + 1 is None", True),
    ("place.city == 'Ulm'", True),
    ("lower(kind) == 'card' and upper(kind) == 'CARD'", True),
    ("starts_with(kind, 'ca') and ends_with(kind, 'rd') and contains(kind, 'ar')", True),
    ("length(kind) == 4 and abs(-3) == 3", True),
    ("(1 if amount > 5 else 2) == 1", True),
    ("kind not in ('cash',)", True),
    ("event", True),
    ("True", True),
]


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS)
def test_expressions(text: str, expected: bool) -> None:
    event = {"amount": 10, "kind": "card", "note": None, "place": {"city": "Ulm"}}
    expression = pickle.loads(pickle.dumps(Expression(text)))
    assert expression(event) is expected
    assert not expression.iterative


def test_expressions_read_rows() -> None:
    assert Expression("amount > 1")(Row(amount=2))


@pytest.mark.parametrize(
    "text",
    [
        "x ** 9", "lambda: 1", "[y for y in x]", "x.__class__()", "f'{x}'", "x[0]", "open('f')", "a.x > 1", "a > 1", "sum(x)", "count(b)",
        "sum(a.x, 1)", "x is y", "b'x'", "", "x = 1", "(" * 500, "x" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expression(text, ["a"])


def test_private_attributes_are_out_of_reach() -> None:
    with pytest.raises(ExpressionError, match="no field '__class__'"):
        Expression("event.__class__ == 1")("text")


def test_unknown_fields_are_named_with_the_expression() -> None:
    with pytest.raises(ExpressionError, match="in the expression 'y > 1': the event has no field 'y'"):
        Expression("y > 1")({"x": 1})


def test_what_cannot_be_compared_is_told_with_the_expression() -> None:
    with pytest.raises(ExpressionError, match="TypeError in the expression 'x > 1': "):
        Expression("x > 1")({"x": "one"})


def test_the_end_of_a_text_that_is_not_complete_is_named() -> None:
    with pytest.raises(ExpressionError, match="at the end of 'amount <'"):
        Expression("amount <")
    with pytest.raises(ExpressionError, match="at character 1 of '"):
        Expression("(amount")


def test_expressions_over_what_was_taken() -> None:
    # sum of what b has taken so far and the new one at most 5: 2 (2), 3 (5), 1 would make 6.
    pattern = Pattern.from_dict(
        {
            "patterns": [
                {"name": "b", "where": "sum(b.x) + x <= 5 and count(b) < 3 and (last(b.x) is None or x > last(b.x))", "times": {"from": 1}}
            ]
        }
    )
    matcher = Matcher(compile_pattern(pattern), pattern.get_after_match_skip_strategy(), new_tables(), lambda: 0, False)
    found = [[e["x"] for e in m["b"]] for time, x in enumerate([2, 3, 1]) for m in matcher.process("k", {"x": x}, time)[0]]
    assert found == [[2], [2, 3], [3], [1]]
