"""Schemas and descriptors against real Flink (``tests/differential/record_table_api.py``)."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import wiesel.common
import wiesel.table
from tests.differential import table_cases
from wiesel.core.errors import ProgramError
from wiesel.table import DataTypes, FormatDescriptor, Schema, TableDescriptor

GOLDENS = json.loads((Path(table_cases.__file__).parent / "goldens" / "table_api.json").read_text(encoding="utf-8"))
API = SimpleNamespace(
    ConfigOptions=wiesel.common.ConfigOptions, Types=wiesel.common.Types, **{n: getattr(wiesel.table, n) for n in wiesel.table.__all__}
)
SCHEMAS = table_cases.schemas(API)
DESCRIPTORS = table_cases.descriptors(API)


def test_every_case_was_recorded() -> None:
    assert set(GOLDENS["schemas"]) == set(SCHEMAS)
    assert set(GOLDENS["descriptors"]) == set(DESCRIPTORS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_as_in_flink(name: str) -> None:
    recorded = GOLDENS["schemas"][name]
    if isinstance(recorded, dict):
        with pytest.raises(ProgramError) as caught:
            SCHEMAS[name]()
        assert caught.value.hint
    else:
        assert str(SCHEMAS[name]()) == recorded


def lines_in_order(text: str) -> list[str]:
    """Flink's options come in the order of a hash table, ours by their keys; without a schema, Flink's text begins with an empty line."""
    head, _, options = text.strip().partition("WITH (\n")
    return [*head.splitlines(), *sorted(line.rstrip(",") for line in options.splitlines())]


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_descriptors_as_in_flink(name: str) -> None:
    recorded = GOLDENS["descriptors"][name]
    if isinstance(recorded, dict):
        with pytest.raises(ProgramError) as caught:
            DESCRIPTORS[name]()
        assert caught.value.hint and __file__ not in str(caught.value) and "table_cases.py:" in str(caught.value)
    else:
        assert lines_in_order(str(DESCRIPTORS[name]())) == lines_in_order(recorded)


def test_equal_descriptions_are_equal() -> None:
    for cases in (SCHEMAS, DESCRIPTORS):
        for name, make in cases.items():
            if not isinstance({**GOLDENS["schemas"], **GOLDENS["descriptors"]}[name], dict):
                made, again = make(), pickle.loads(pickle.dumps(make()))
                assert made == again and hash(made) == hash(again)
                assert [other for other in cases if again == _made(cases[other])] == [name]


def _made(make: Any) -> Any:
    try:
        return make()
    except ProgramError:
        return None


def test_values_of_options_become_texts() -> None:
    built = TableDescriptor.for_connector("c").option("n", 5).option("yes", True).option("f", 1.5).option("s", " x ").build()
    assert built.get_options() == {"connector": "c", "n": "5", "yes": "true", "f": "1.5", "s": " x "}


def test_what_was_described_can_be_read() -> None:
    schema = Schema.new_builder().column("a", DataTypes.INT()).build()
    built = TableDescriptor.for_connector("c").schema(schema).comment("why").partitioned_by("a").build()
    assert (built.get_schema(), built.get_comment(), built.get_partition_keys()) == (schema, "why", ["a"])
    bare = TableDescriptor.for_connector("c").build()
    assert (bare.get_schema(), bare.get_comment(), bare.get_partition_keys()) == (None, None, [])
    built.get_options()["connector"] = "other"
    assert built.get_options() == {"connector": "c"}
    described = FormatDescriptor.for_format("json").option("a", 1).build()
    assert (described.get_format(), described.get_options()) == ("json", {"a": "1"})


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Schema.new_builder().column("a", int), "type of column `a` is <class 'int'>"),  # type: ignore[arg-type]
        (lambda: Schema.new_builder().column_by_expression("a", 1), "an expression of a schema is 1"),
        (lambda: Schema.new_builder().watermark("a", "a").watermark("b", "b"), "at most one watermark"),
        (lambda: Schema.new_builder().from_schema("a INT"), "from_schema.. takes a Schema, got 'a INT'"),  # type: ignore[arg-type]
        (lambda: TableDescriptor.for_connector(None), "connector's name"),  # type: ignore[arg-type]
        (lambda: TableDescriptor.for_connector("c").schema(Schema.new_builder()), "schema"),  # type: ignore[arg-type]
        (lambda: TableDescriptor.for_connector("c").format("csv", wiesel.common.ConfigOptions.key("fmt").string_type().no_default_value()),
         "'fmt' is no option for a format"),
        (lambda: TableDescriptor.for_connector("c").option(5, "x"), "key of an option"),  # type: ignore[arg-type]
        (lambda: TableDescriptor.for_connector("c").partitioned_by(["a"]), "partition key"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_wrong_arguments(make: Any, problem: str) -> None:
    with pytest.raises(ProgramError, match=problem) as caught:
        make()
    assert caught.value.hint
