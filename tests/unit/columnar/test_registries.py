"""Functions are found by name from the first time on, whichever thread asks while others still load them."""

from __future__ import annotations

import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from wiesel.columnar.aggregates import registry as aggregates
from wiesel.columnar.functions import registry as functions


@pytest.mark.parametrize(("registry", "find"), [(functions, "find_function"), (aggregates, "find_aggregate")])
def test_who_asks_while_another_thread_loads_the_functions_finds_them(
    registry: ModuleType, find: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, found, asking = dict[str, Any](), list[Any](), list[threading.Thread]()

    def import_module(name: str) -> None:
        if not asking:
            asking.append(threading.Thread(target=lambda: found.append(getattr(registry, find)("LAST"))))
            asking[0].start()
            asking[0].join()
        if name.endswith(registry._MODULES[-1]):
            known["LAST"] = "the last one"

    monkeypatch.setattr(registry, "_loaded", [])
    monkeypatch.setattr(registry, "_FUNCTIONS", known)
    monkeypatch.setattr(registry, "importlib", SimpleNamespace(import_module=import_module))
    assert getattr(registry, find)("LAST") == "the last one"
    assert found == ["the last one"]
