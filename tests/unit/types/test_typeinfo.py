"""Declared types: their text, equality and JSON. Texts are PyFlink 2.3's."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiesel.core.errors import ProgramError
from wiesel.types.typeinfo import ExternalTypeInfo, TypeInformation
from wiesel.types.types import Types, type_from_json

TEXTS = {
    "String": Types.STRING(),
    "Byte": Types.BYTE(),
    "Boolean": Types.BOOLEAN(),
    "Short": Types.SHORT(),
    "Integer": Types.INT(),
    "Long": Types.LONG(),
    "Float": Types.FLOAT(),
    "Double": Types.DOUBLE(),
    "Char": Types.CHAR(),
    "BigInteger": Types.BIG_INT(),
    "BigDecimal": Types.BIG_DEC(),
    "Instant": Types.INSTANT(),
    "DateTypeInfo": Types.SQL_DATE(),
    "TimeTypeInfo": Types.SQL_TIME(),
    "TimestampTypeInfo": Types.SQL_TIMESTAMP(),
    "LocalTimeTypeInfo<LOCAL_DATE>": Types.LOCAL_DATE(),
    "LocalTimeTypeInfo<LOCAL_TIME>": Types.LOCAL_TIME(),
    "LocalTimeTypeInfo<LOCAL_DATE_TIME>": Types.LOCAL_DATE_TIME(),
    "PickledByteArrayTypeInfo": Types.PICKLED_BYTE_ARRAY(),
    "RowTypeInfo(Integer)": Types.ROW([Types.INT()]),
    "RowTypeInfo(a: Integer, b: String)": Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]),
    "TupleTypeInfo(Integer, String)": Types.TUPLE([Types.INT(), Types.STRING()]),
    "PrimitiveArrayTypeInfo<Long>": Types.PRIMITIVE_ARRAY(Types.LONG()),
    "BasicArrayTypeInfo<String>": Types.BASIC_ARRAY(Types.STRING()),
    "ObjectArrayTypeInfo<RowTypeInfo(Integer)>": Types.OBJECT_ARRAY(Types.ROW([Types.INT()])),
    "MapTypeInfo<String, ListTypeInfo<Double>>": Types.MAP(Types.STRING(), Types.LIST(Types.DOUBLE())),
    "ExternalTypeInfo<Integer>": ExternalTypeInfo(Types.INT()),
}
ALL = list(TEXTS.values())


@pytest.mark.parametrize("text", TEXTS)
def test_text_json_and_pickle(text: str) -> None:
    kind = TEXTS[text]
    assert repr(kind) == str(kind) == text
    again = type_from_json(json.loads(json.dumps(kind.to_json())))
    assert (again, repr(again), type(again)) == (kind, text, type(kind))
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert hash(pickle.loads(pickle.dumps(kind))) == hash(kind)


def test_types_differ_from_each_other() -> None:
    assert len(set(ALL)) == len(ALL)
    assert Types.INT() != "Integer"


def test_names_of_fields_do_not_count_for_equality() -> None:
    named, unnamed = Types.ROW_NAMED(["a"], [Types.INT()]), Types.ROW([Types.INT()])
    assert named == unnamed
    assert hash(named) == hash(unnamed)
    assert unnamed.get_field_names() == ["f0"]
    assert (named.get_field_index("a"), unnamed.get_field_index("a")) == (0, -1)


def test_wrong_declarations_are_refused() -> None:
    with pytest.raises(ProgramError, match="2 field names has 1 field types"):
        Types.ROW_NAMED(["a", "b"], [Types.INT()])
    with pytest.raises(ProgramError, match="occurs twice"):
        Types.ROW_NAMED(["a", "a"], [Types.INT(), Types.INT()])
    with pytest.raises(ProgramError, match="String cannot be the element type of a PrimitiveArrayTypeInfo"):
        Types.PRIMITIVE_ARRAY(Types.STRING())
    with pytest.raises(ProgramError, match="cannot be the element type of a BasicArrayTypeInfo"):
        Types.BASIC_ARRAY(Types.BIG_DEC())
    with pytest.raises(ProgramError, match="unknown type 'new'"):
        type_from_json({"type": "new"})


def _nested(children: st.SearchStrategy[TypeInformation]) -> st.SearchStrategy[TypeInformation]:
    lists = st.lists(children, min_size=1, max_size=3)
    return st.one_of(
        lists.map(Types.ROW),
        lists.map(lambda kinds: Types.ROW_NAMED([f"n{i}" for i in range(len(kinds))], kinds)),
        lists.map(Types.TUPLE),
        children.map(Types.LIST),
        children.map(Types.OBJECT_ARRAY),
        st.tuples(children, children).map(lambda pair: Types.MAP(*pair)),
    )


@given(st.recursive(st.sampled_from(ALL), _nested, max_leaves=6))
def test_any_type_survives_json(kind: TypeInformation) -> None:
    again = type_from_json(json.loads(json.dumps(kind.to_json())))
    assert again == kind
    assert repr(again) == repr(kind)
