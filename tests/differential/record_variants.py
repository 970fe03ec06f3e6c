"""Records what real Flink makes of texts of JSON as VARIANT: ``goldens/variants.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path. Called are the methods that
PARSE_JSON and the access to parts call. Recorded are by text: how the value prints, and how with keys that are there twice (null where it
is refused), and a part of it with what finds it (false where that fails).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent / "goldens" / "variants.json"
SEED, COUNT = 11, 1000

NUMBERS = (
    *"0 -0 1 -1 127 128 -129 32768 2147483648 9223372036854775807 9223372036854775808 -9223372036854775809".split(),
    *"1.0 1.50 -0.0 0.10 100.00".split(),
    *"12345678901234567890123456789012345678 123456789012345678901234567890123456789 12345678901234567890123456789012345678.9".split(),
    *"123456789.123456789012345678901234567890 0.00000000000000000000000000000000000001 0.000000000000000000000000000000000000001".split(),
    *"1e3 1E3 1.5e2 1e-3 1e-4 1e400 -1e400 1e7 1.0E6 1e-400 1.7976931348623157e308 4.9e-324 3.0e-5 12345678.0e0 0.1e0 1e22 -0e0".split(),
)
WRONG_NUMBERS = "01 +1 .5 5. 1.e3 --1 - 1a 1e 1e+ NaN Infinity -Infinity 0x1 1_000".split()
STRINGS = (
    *("", "x", "a b", "é", "\\u00e9", "😀", "\\ud83d\\ude00", "\\ud83d", "\\ude00x", "\\n\\t\\r\\b\\f", '\\"', "\\\\u001f", "\\/"),
    *("\\u0001", "\\u001F", "\\u000b", "\\u007f", "\\u2028", "\\uffff", "{", "]", ",", ":", "1", "k" * 70),
)
WRONG_STRINGS = ('"\\x"', '"\\u12"', '"a\nb"', '"a\tb"', '"abc', "'a'", '"\x1f"')
WORDS = ("true", "false", "null")
WRONG_WORDS = ("nul", "tru", "True", "undefined", "nullx", "true1", "")
KEYS = ("a", "b", "c", "A", "", "a b", "é", "😀", "\\uffff", "\\u0001", "\\\\", '\\"', "aa", "ab")
BLANKS = ("", "", "", " ", "\n", "\t", " \r\n")
BEHIND = ("", "", "", " ", " 1", ",2", "x", "}", "]", " []", "/", "\u00a0")


def _blank(chance: random.Random) -> str:
    return chance.choice(BLANKS)


def _scalar(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.04:
        return chance.choice((*WRONG_NUMBERS, *WRONG_STRINGS, *WRONG_WORDS))
    if kind < 0.45:
        return chance.choice(NUMBERS)
    return f'"{chance.choice(STRINGS)}"' if kind < 0.8 else chance.choice(WORDS)


def _value(chance: random.Random, depth: int) -> str:
    kind = chance.random()
    if depth == 0 or kind < 0.4:
        return _blank(chance) + _scalar(chance) + _blank(chance)
    if kind < 0.7:
        inner = ",".join(_value(chance, depth - 1) for _ in range(chance.randrange(5)))
        return f"{_blank(chance)}[{inner or _blank(chance)}]{_blank(chance)}"
    keys = [chance.choice(KEYS) for _ in range(chance.choice((0, 1, 2, 3, 4, 20)))]
    inner = ",".join(f'{_blank(chance)}"{key}"{_blank(chance)}:{_value(chance, depth - 1)}' for key in keys)
    return f"{_blank(chance)}{{{inner or _blank(chance)}}}{_blank(chance)}"


def _damaged(chance: random.Random, text: str) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice(("", *'{}[],:"1 -')) + text[place + chance.randrange(2) :]


def texts() -> list[str]:
    """Return different texts: all kinds of scalars, and random values."""
    chance = random.Random(SEED)
    scalars = [*NUMBERS, *WRONG_NUMBERS, *(f'"{each}"' for each in STRINGS), *WRONG_STRINGS, *WORDS, *WRONG_WORDS, "{a:1}", "\ufeff1"]
    found = dict.fromkeys([*scalars, *(f"{first}{behind}" for first in ("1", "true", '"x"', "[1]", "{}") for behind in BEHIND)])
    while len(found) < COUNT:
        text = _value(chance, chance.randrange(1, 4))
        if chance.random() < 0.2:
            text = _damaged(chance, text)
        found[text + chance.choice(BEHIND) if chance.random() < 0.1 else text] = None
    return list(found)


def main() -> None:
    """Record all."""
    from py4j.protocol import Py4JJavaError
    from pyflink.java_gateway import get_gateway

    parse = get_gateway().jvm.org.apache.flink.types.variant.BinaryVariantInternalBuilder.parseJson
    chance = random.Random(SEED)

    def parsed(text: str, allow_duplicates: bool) -> Any:
        try:
            return parse(text, allow_duplicates)
        except Py4JJavaError:
            return None

    def part(value: Any) -> list[Any]:
        place = json.loads(f'"{chance.choice(KEYS)}"') if chance.random() < (0.9 if value.isObject() else 0.1) else chance.randrange(-1, 6)
        try:
            found = value.getField(place) if isinstance(place, str) else value.getElement(place - 1)
        except Py4JJavaError:
            return [place, False]
        return [place, None if found is None else found.toJson()]

    def row(text: str) -> list[Any]:
        strict, lenient = parsed(text, False), parsed(text, True)
        shown = [None if value is None else value.toJson() for value in (strict, lenient)]
        return [text, *shown, *([] if lenient is None else part(lenient))]

    lines = ",\n".join(json.dumps(row(text)) for text in texts())
    TARGET.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
