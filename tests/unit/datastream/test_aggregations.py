"""sum, min, max, min_by and max_by give what PyFlink gives (recorded by ``record_aggregations.py``)."""

from __future__ import annotations

import copy
import json
import pathlib
from typing import Any

import pytest

from tests.unit.datastream.record_aggregations import decode, encode
from wiesel.common import Row, RowKind, Types
from wiesel.core.errors import ProgramError
from wiesel.datastream import KeySelector
from wiesel.spi.builtin_functions import FieldAggregation, TypedKeySelector

CASES = json.loads(pathlib.Path(__file__).with_name("pyflink_aggregations.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['kind']}-{c['position']}-{c['records'][0][0]}")
def test_as_in_pyflink(case: dict[str, Any]) -> None:
    function = FieldAggregation(case["kind"], case["position"])
    form = case["records"][0][0]
    records = [decode(r, Row) for r in case["records"]]
    untouched = copy.deepcopy(records)
    state, results = records[0], [encode(records[0], form)]
    for record in records[1:]:
        state = function.reduce(state, record)
        assert type(state) is type(record)
        results.append(encode(state, form))
    assert results == case["results"]
    # Records that were handed on before must not change behind their readers.
    assert records == untouched


def test_rows_keep_names_and_kind() -> None:
    first = Row.of_kind(RowKind.UPDATE_AFTER, name="a", n=1)
    assert FieldAggregation("sum", "n").reduce(first, Row(name="b", n=2)) == Row.of_kind(RowKind.UPDATE_AFTER, name="a", n=3)


def test_a_field_of_a_plain_value_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"sum\(1\) selects a field, but a record is 2, which has none"):
        FieldAggregation("sum", 1).reduce(1, 2)


def test_typed_keys_open_and_close_the_users_selector_and_survive_pickling() -> None:
    calls: list[str] = []

    class Selector(KeySelector):
        def open(self, runtime_context: Any) -> None:
            calls.append("open")

        def close(self) -> None:
            calls.append("close")

        def get_key(self, value: Any) -> Any:
            return value

    selector = TypedKeySelector(Selector(), Types.DOUBLE())
    selector.open(None)  # type: ignore[arg-type]
    selector.close()
    assert calls == ["open", "close"]
    key = copy.copy(selector).get_key(1)
    assert (key, type(key)) == (1.0, float)
