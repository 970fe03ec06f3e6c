"""Internal. Encodings of strings and bytes: hashes, base64, hexadecimal, character sets, addresses."""

from __future__ import annotations

import base64
import codecs
import hashlib
import re
import urllib.parse
import uuid
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import BIGINT, BINARY, INTEGER, TEXT, TEXT_OR_BINARY, never_null, returning_null, taking
from wiesel.columnar.type_rules import BYTES, STRING
from wiesel.types import logical as t

__all__ = ["part_of_url"]

_UUID = t.CharType(36)


def _digest(name: str) -> Callable[[str], str]:
    digest = getattr(hashlib, name)
    return lambda text: digest(text.encode(), usedforsecurity=False).hexdigest()


for _name, _length in (("MD5", 32), ("SHA1", 40), ("SHA224", 56), ("SHA256", 64), ("SHA384", 96), ("SHA512", 128)):
    register(ScalarFunction(_name, taking(t.CharType(_length), TEXT), by_value(_digest(_name.lower()))))


def _sha2(text: str, bits: int) -> str:
    # A non-literal may also be 1, as Flink then requests "SHA-1" from Java.
    if bits not in (1, 224, 256, 384, 512):
        raise ValueError(f"SHA-2 has no hashes of {bits} bits, only of 224, 256, 384 and 512")
    return _digest(f"sha{bits}")(text)


def _resolve_sha2(arguments: Arguments) -> Signature:
    if arguments.literal(1) not in (None, 224, 256, 384, 512):
        raise arguments.refuse("SHA2(<CHARACTER>, 224|256|384|512)")
    return taking(returning_null(t.VarCharType(128)), TEXT, INTEGER)(arguments)


register(ScalarFunction("SHA2", _resolve_sha2, by_value(_sha2), may_fail=True))


def _base64_bytes(text: str) -> str:
    if re.search(r"[^A-Za-z0-9+/=]", text):
        raise ValueError("a text is not base 64")
    return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "replace")


def _to_base64(value: str | bytes) -> str:
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()


register(ScalarFunction("TO_BASE64", taking(STRING, TEXT_OR_BINARY), by_value(_to_base64)))
register(ScalarFunction("FROM_BASE64", taking(STRING, TEXT), by_value(_base64_bytes), may_fail=True))


def _hex(value: int | str) -> str:
    return value.encode().hex().upper() if isinstance(value, str) else format(value & 0xFFFF_FFFF_FFFF_FFFF, "X")


def _resolve_hex(arguments: Arguments) -> Signature:
    number = len(arguments.types) == 1 and isinstance(arguments.types[0], t.IntegralType)
    return taking(STRING, BIGINT if number else TEXT)(arguments)


def _unhex(text: str) -> bytes | None:
    if not re.fullmatch("[0-9A-Fa-f]*", text):
        return None
    # The first of an odd number of digits is ignored, as in Flink.
    return bytes.fromhex("00" + text[1:] if len(text) % 2 else text)


register(ScalarFunction("HEX", _resolve_hex, by_value(_hex)))
register(ScalarFunction("UNHEX", taking(returning_null(BYTES), TEXT), by_value(_unhex)))


def _codec(charset: str) -> str:
    try:
        codecs.lookup(charset)
    except LookupError:
        raise ValueError(f"the character set {charset!r} is not known") from None
    return charset


def _decoded(value: bytes, charset: str) -> str:
    codec = _codec(charset)
    if charset.upper() in ("UTF-16", "UTF16") and value[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        codec = "utf-16-be"
    return value.decode(codec, "replace")


def _encoded(text: str, charset: str) -> bytes:
    # Java writes a byte order mark for UTF-16.
    return b"\xfe\xff" + text.encode("utf-16-be") if charset.upper() in ("UTF-16", "UTF16") else text.encode(_codec(charset), "replace")


register(ScalarFunction("DECODE", taking(STRING, BINARY, TEXT), by_value(_decoded), may_fail=True))
register(ScalarFunction("ENCODE", taking(BYTES, TEXT, TEXT), by_value(_encoded), may_fail=True))


def _url_encoded(text: str) -> str:
    return urllib.parse.quote_plus(text, safe="*").replace("~", "%7E")


def _url_decoded(text: str) -> str | None:
    if re.search("%(?![0-9A-Fa-f]{2})", text):
        return None
    return urllib.parse.unquote_plus(text, errors="replace")


register(ScalarFunction("URL_ENCODE", taking(returning_null(STRING), TEXT), by_value(_url_encoded)))
register(ScalarFunction("URL_DECODE", taking(returning_null(STRING), TEXT), by_value(_url_decoded)))

_URL = re.compile(
    r"(?P<protocol>https?|ftp|file|jar|mailto):(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<ref>.*))?",
    re.IGNORECASE,
)


def part_of_url(url: str, part: str, key: str | None = None) -> str | None:
    """Return a part of a URL as extracted by Java, or the value of a key of its query; None if there is none."""
    found = _URL.fullmatch(url)
    if found is None or (key is not None and part != "QUERY"):
        return None
    authority, query = found["authority"], found["query"]
    if key is not None:
        value = re.search(f"(?:&|^){re.escape(key)}=([^&]*)", query or "")
        return None if value is None else value[1]
    user, _, host = (authority or "").rpartition("@")
    parts = {
        "HOST": re.sub(r":\d*$", "", host),
        "PATH": found["path"],
        "QUERY": query,
        "REF": found["ref"],
        "PROTOCOL": found["protocol"].lower(),
        "FILE": found["path"] + (f"?{query}" if query is not None else ""),
        "AUTHORITY": authority,
        "USERINFO": user or None,
    }
    return parts.get(part)


register(ScalarFunction("PARSE_URL", taking(returning_null(STRING), TEXT, TEXT, TEXT, optional=1), by_value(part_of_url)))


def _uuids(call: Call, frame: Any, operands: list[Any]) -> Any:
    return pa.array([str(uuid.uuid4()) for _ in range(frame.num_rows)], pa.string())


register(ScalarFunction("UUID", taking(never_null(_UUID)), _uuids, deterministic=False))


def _to_number(text: str) -> int | None:
    """Return an IPv4 address as a number; the last of fewer than four parts stands for all remaining bytes."""
    parts = text.split(".")
    if not 1 <= len(parts) <= 4 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    *first, last = map(int, parts)
    if any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
        return None
    return sum(part << (24 - 8 * place) for place, part in enumerate(first)) + last


def _to_address(number: int) -> str | None:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0)) if 0 <= number < 2**32 else None


register(ScalarFunction("INET_ATON", taking(returning_null(t.BigIntType()), TEXT), by_value(_to_number)))
register(ScalarFunction("INET_NTOA", taking(returning_null(STRING), BIGINT), by_value(_to_address)))
