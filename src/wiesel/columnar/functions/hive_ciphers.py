"""Internal. Hive functions for encryption and hashing, by Hive's rules."""

from __future__ import annotations

import datetime
import hashlib
import struct
from functools import reduce
from typing import Any

from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import TEXT, TEXT_OR_BINARY, returning_null, taking
from wiesel.columnar.type_rules import BYTES, STRING, is_text
from wiesel.core.optional import require
from wiesel.types import logical as t

__all__ = ["hash_of", "is_hashed"]

_KEY_LENGTHS = (16, 24, 32)
_BLOCK_BITS = 128


def _bytes(given: str | bytes) -> bytes:
    return given.encode() if isinstance(given, str) else given


def _cipher(key: bytes) -> Any:
    """Return AES in ECB mode, as in Hive; None for invalid key lengths."""
    if len(key) not in _KEY_LENGTHS:
        return None
    ciphers = require("cryptography.hazmat.primitives.ciphers", "AES", "aes")
    return ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.ECB())  # Hive's mode


def _padding(block_bits: int) -> Any:
    return require("cryptography.hazmat.primitives.padding", "AES", "aes").PKCS7(block_bits)


def _encrypted(given: str | bytes, key: str | bytes) -> bytes | None:
    cipher = _cipher(_bytes(key))
    if cipher is None:
        return None
    padder, encryptor = _padding(_BLOCK_BITS).padder(), cipher.encryptor()
    return encryptor.update(padder.update(_bytes(given)) + padder.finalize()) + encryptor.finalize()  # type: ignore[no-any-return]


def _decrypted(given: bytes, key: str | bytes) -> bytes | None:
    cipher = _cipher(_bytes(key))
    if cipher is None:
        return None
    decryptor, unpadder = cipher.decryptor(), _padding(_BLOCK_BITS).unpadder()
    try:
        return unpadder.update(decryptor.update(given) + decryptor.finalize()) + unpadder.finalize()  # type: ignore[no-any-return]
    except ValueError:
        return None


register(ScalarFunction("hive.AES_ENCRYPT", taking(returning_null(BYTES), TEXT_OR_BINARY, TEXT_OR_BINARY), by_value(_encrypted)))
register(ScalarFunction("hive.AES_DECRYPT", taking(returning_null(BYTES), TEXT_OR_BINARY, TEXT_OR_BINARY), by_value(_decrypted)))
register(ScalarFunction("hive.MASK_HASH", taking(STRING, TEXT), by_value(lambda text: hashlib.sha256(text.encode()).hexdigest())))


_HASHED = (t.IntegralType, t.BooleanType, t.FloatType, t.DoubleType, t.BinaryType, t.VarBinaryType, t.DateType)


def is_hashed(of: t.DataType) -> bool:
    """Return whether values of a type can be hashed: strings, bytes, numbers other than decimals, dates, and collections of these."""
    if isinstance(of, t.ArrayType):
        return is_hashed(of.element_type)
    if isinstance(of, t.MapType):
        return is_hashed(of.key_type) and is_hashed(of.value_type)
    if isinstance(of, t.RowType):
        return all(is_hashed(field.data_type) for field in of)
    return is_text(of) or isinstance(of, _HASHED)


def _signed(number: int) -> int:
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def hash_of(value: Any, of: t.DataType) -> int:
    """Return Java's hash code of a value; that of a string is the one of its bytes."""
    if value is None:
        return 0
    if isinstance(value, str | bytes):
        code = 0
        for byte in _bytes(value):
            code = (code * 31 + (byte if byte < 128 else byte - 256)) & 0xFFFFFFFF
        return code
    if isinstance(of, t.ArrayType):
        return _joined([hash_of(part, of.element_type) for part in value])
    if isinstance(of, t.RowType):
        return _joined(list(map(hash_of, value.values(), of.field_types())))
    if isinstance(of, t.MapType):
        return sum((hash_of(key, of.key_type) ^ hash_of(held, of.value_type)) & 0xFFFFFFFF for key, held in value) & 0xFFFFFFFF
    if isinstance(of, t.DateType):
        return (value - datetime.date(1970, 1, 1)).days  # type: ignore[no-any-return]
    if isinstance(of, t.FloatType):
        return int.from_bytes(struct.pack(">f", value), "big")
    if isinstance(of, t.DoubleType):
        value = int.from_bytes(struct.pack(">d", value), "big")
    if isinstance(of, t.DoubleType | t.BigIntType):
        value = ((value & (1 << 64) - 1) >> 32) ^ (value & 0xFFFFFFFF)
    return int(value)


def _joined(hashes: list[int]) -> int:
    return reduce(lambda code, of_part: (code * 31 + of_part) & 0xFFFFFFFF, hashes, 0)


def _resolve_hash(arguments: Arguments) -> Signature:
    if not arguments.types or not all(map(is_hashed, arguments.types)):
        raise arguments.refuse("strings, bytes, booleans, dates, numbers other than decimals, and arrays, maps and rows of these")
    return Signature(arguments.types, t.IntType(False))


def _hash(call: Any, frame: Any, operands: list[Any]) -> Any:
    types = [operand.data_type for operand in call.operands]

    def of_row(*values: Any) -> int:
        code = 0
        for value, of in zip(values, types, strict=True):
            code = code * 31 + hash_of(value, of)
        return _signed(code)

    return by_value(of_row, nulls=True)(call, frame, operands)


register(ScalarFunction("hive.HASH", _resolve_hash, _hash))
