"""Schemas of connectors and encoders of files."""

from __future__ import annotations

import io
import pickle

import pytest

from wiesel.core.errors import ProgramError, TypeMismatchError
from wiesel.spi.serialization import ByteArraySchema, Encoder, RowFieldExtractorSchema, SimpleStringSchema
from wiesel.types.row import Row
from wiesel.types.types import Types


def test_strings() -> None:
    schema = SimpleStringSchema()
    assert schema.serialize("é") == b"\xc3\xa9"
    assert schema.serialize_many(["a", "b"]) == [b"a", b"b"]
    assert schema.deserialize(b"\xc3\xa9") == "é"
    assert schema.deserialize_many([b"a", b"\xff"]) == ["a", "\ufffd"]
    assert SimpleStringSchema("ISO-8859-1").deserialize(b"\xe9") == "é"
    assert SimpleStringSchema("US-ASCII").serialize("é") == b"?"
    assert schema.get_produced_type() == Types.STRING()
    assert not schema.is_end_of_stream("a")


def test_what_is_no_string_is_refused() -> None:
    with pytest.raises(TypeMismatchError, match="SimpleStringSchema got 5"):
        SimpleStringSchema().serialize(5)
    with pytest.raises(ProgramError, match="unknown charset 'UTF-9'"):
        SimpleStringSchema("UTF-9")
    with pytest.raises(ProgramError, match="unknown charset"):
        Encoder.simple_string_encoder("UTF-9")


def test_bytes() -> None:
    assert ByteArraySchema().serialize(bytearray(b"ab")) == b"ab"
    assert ByteArraySchema().deserialize_many([b"a"]) == [b"a"]
    assert ByteArraySchema().get_produced_type() == Types.PRIMITIVE_ARRAY(Types.BYTE())


def test_a_field_of_rows() -> None:
    schema = RowFieldExtractorSchema(1)
    assert schema.serialize(Row("x", b"k")) == b"k"
    assert schema.serialize(Row("x", None)) == b""
    for wrong in (Row("x"), Row("x", "text"), ("x", b"k")):
        with pytest.raises(TypeMismatchError):
            schema.serialize(wrong)
    with pytest.raises(ValueError, match="Field index must be non-negative, got: -1"):
        RowFieldExtractorSchema(-1)


def test_lines_of_text() -> None:
    encoder = Encoder.simple_string_encoder().bind(Types.DOUBLE())
    stream = io.BytesIO()
    encoder.encode(1e10, stream)
    assert stream.getvalue() == encoder.encode_many([1e10]) == b"1.0E10\n"
    assert encoder.encode_many([]) == b""
    assert pickle.loads(pickle.dumps(encoder)).encode_many([0.5, None]) == b"0.5\nnull\n"
    assert Encoder.simple_string_encoder().encode_many([("a", 1), "b"]) == b"('a', 1)\nb\n"
