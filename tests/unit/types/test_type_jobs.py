"""Jobs make of values of declared types what real PyFlink 2.3 makes of them: ``tests/differential/goldens_type_jobs.json``."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, Row, Types
from wiesel.core.errors import TypeMismatchError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.platform import pyflink_hook

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

import type_jobs  # noqa: E402
import type_values  # noqa: E402

TABLE: dict[str, dict[str, Any]] = json.loads((DIFFERENTIAL / "goldens_type_jobs.json").read_text(encoding="utf-8"))
NAMES = type_values.namespace(Types, Row)


@pytest.fixture(autouse=True, scope="module")
def pyflink_names() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        if not pyflink_hook.is_installed():
            pyflink_hook.install()
            stack.callback(pyflink_hook.uninstall)
        yield


def texts_of(site: str, declared: str, expressions: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.set_parallelism(1)
    stream = type_jobs.build(site, env, NAMES, declared, expressions)
    if site == "printed":
        stream.print()
        capsys.readouterr()
        env.execute()
        return capsys.readouterr().out.splitlines()
    found = list(stream.execute_and_collect())
    return [text for _, text in sorted(found)] if site in type_jobs.IN_PYTHON else list(map(type_values.shown, found))


def cells(site: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the recorded results of a site by type and value."""
    for declared, values in TABLE.items():
        if site in type_jobs.sites_of(declared):
            yield declared, {value: told if isinstance(told, str) else told[site] for value, told in values.items()}


ADDRESS = re.compile(r"\[(L[\w.]+;|[A-Z])@[0-9a-f]+$")
"""The text that Java has for an array."""
WHOLE = ("BYTE", "SHORT", "INT", "LONG")


def is_changed_by_flink(site: str, declared: str, value: str, told: str) -> bool:
    """Return whether PyFlink takes a value and makes another one of it, which Wiesel refuses or keeps as it is.

    Arrays and objects that cannot be hashed are refused as keys, too.
    """
    if site == "key" and declared == type_jobs.UNDECLARED:
        return "np.array" in value or "Data(" in value
    if "CHAR" in declared:
        return True  # U+0000, or the one before it
    if site == "collection" and (changed := _is_changed_by_java(declared, value, told)) is not None:
        return changed
    if site == "printed" and "_ARRAY(" in declared:
        return ADDRESS.match(told) is not None
    if site == "printed" and declared.startswith("ROW"):
        # The text is made in the chain of the function, before fields are converted.
        row = eval(value, NAMES)
        return told == _printed(row) != _printed(eval(f"Types.{declared}", NAMES).coerce(row))
    if "PRIMITIVE_ARRAY(Types.BYTE())" in declared:
        return site in ("collected", "printed")  # a list of numbers; the address of the array
    if "SQL_DATE" in declared:
        return "datetime.date(1, 1, 1)" in value  # Java's calendar before 1582
    if "SQL_TIMESTAMP" in declared:
        return "before" in value or "datetime.datetime(9999" in value
    if "SQL_TIME()" in declared:
        return site in ("collection", "collected")  # without fractions of seconds, in UTC
    if "FLOAT" in declared:
        return "broadcast" in site  # rounded to 32 bits when it leaves the cache
    return "BIG_DEC" in declared and "-0.0" in value  # Java has no negative zero there


def _is_changed_by_java(declared: str, value: str, told: str) -> bool | None:
    """Return whether ``from_collection()`` makes another value of one, before Python's coders see it; None if other rules decide."""
    if any(f"{kind}()" in declared for kind in WHOLE) and _has_large_number(value):
        return True  # cut off to the bits of the type
    if "Types." in declared and told.count("None") > value.count("None"):
        return True  # null in place of a field or an element of another class
    if value == "{None: 1}":
        return True  # a key that collect() alone returns: functions fail
    if "PRIMITIVE_ARRAY(Types.BYTE())" in declared:
        return True  # a list of numbers
    if ("SQL_DATE()" in declared or "SQL_TIME()" in declared) and re.search(r"[\[ ](-?\d|2\*\*|-2\*\*)", value):
        return "datetime." in told  # whole numbers pass within arrays and maps, as days or microseconds, and are refused elsewhere
    if "STRING()" in declared:
        # The text that Java has for an object of another class.
        return any(sign in told for sign in ("java.", "Object;", "[B@", "Time: ", "Timedelta: ", "=", "'[1"))
    return None


def _printed(row: Any) -> str:
    return f"+I[{','.join(map(str, row))}]"


def _has_large_number(value: str) -> bool:
    return any(number in value for number in ("128", "-129", "2**"))


@pytest.mark.parametrize("site", type_jobs.SITES)
def test_values_become_what_they_become_in_flink(site: str, capsys: pytest.CaptureFixture[str]) -> None:
    seen = 0
    for declared, told in cells(site):
        compared = [
            value for value in told if told[value][0:1] not in ("!", "?") and not is_changed_by_flink(site, declared, value, told[value])
        ]
        if compared:
            found = texts_of(site, declared, compared, capsys)
            assert dict(zip(compared, found, strict=True)) == {value: told[value] for value in compared}, declared
            seen += len(compared)
    assert seen > 70


@pytest.mark.parametrize("declared", TABLE)
def test_collections_are_taken_or_refused_with_an_error_that_says_why(declared: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    for value in TABLE[declared]:
        try:
            type_jobs.build("collection", env, NAMES, declared, [value])
        except TypeMismatchError as error:
            assert "is not a" in str(error) or "fields" in str(error), value
