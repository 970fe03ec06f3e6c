"""Connectors and formats load when they are used, and say so clearly where this version does not have them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from wiesel.core.lazy_names import lazy_names
from wiesel.datastream import connectors


def test_the_interfaces_are_those_of_the_spi() -> None:
    from wiesel.spi.sink import Sink
    from wiesel.spi.source import Source

    assert (connectors.Sink, connectors.Source) == (Sink, Source)
    assert [g.name for g in connectors.DeliveryGuarantee] == ["EXACTLY_ONCE", "AT_LEAST_ONCE", "NONE"]


def test_names_are_listed_and_loaded_when_asked_for() -> None:
    get, names, listed = lazy_names("some.module", {"sqrt": "math", "Fraction": "fractions"})
    assert names() == ["Fraction", "sqrt"] and sorted(listed) == ["Fraction", "sqrt"]
    assert get("sqrt")(9) == 3


def test_an_unknown_name_is_an_attribute_error() -> None:
    get, _, _ = lazy_names("some.module", {})
    with pytest.raises(AttributeError, match=r"module 'some\.module' has no attribute 'x'"):
        get("x")


def test_a_missing_connector_says_that_it_is_missing() -> None:
    get, _, _ = lazy_names("some.module", {"Thing": "wiesel.connectors.no_such_thing"})
    with pytest.raises(
        ImportError, match=r"Thing is not part of this version of Wiesel \(there is no module wiesel.connectors.no_such_thing\)"
    ):
        get("Thing")


def test_an_absent_name_says_what_to_do() -> None:
    get, _, listed = lazy_names("some.module", {}, {"Thing": "write one"})
    with pytest.raises(ImportError, match=r"some\.module has no Thing\n  what to do: write one"):
        get("Thing")
    assert listed == []


def test_a_library_that_a_connector_lacks_is_not_taken_for_a_missing_connector(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    Path(str(tmp_path), "needs_library.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    get, _, _ = lazy_names("some.module", {"Thing": "needs_library"})
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        get("Thing")


def test_importing_the_modules_loads_no_connector() -> None:
    code = (
        "import sys, wiesel.datastream.connectors.file_system, wiesel.datastream.formats.parquet;"
        "print([m for m in sys.modules if m.startswith(('pyarrow', 'wiesel.formats', 'wiesel.connectors.file'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=150, check=True)
    assert run.stdout.strip() == "[]"
