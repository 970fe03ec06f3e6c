"""Programs written for PyFlink find its names, parameters and defaults (recorded by ``record_signatures.py``)."""

from __future__ import annotations

import importlib
import inspect
import json
import pathlib
from typing import Any

import pytest

import wiesel.datastream

RECORDED = json.loads(pathlib.Path(__file__).with_name("pyflink_signatures.json").read_text())

# What belongs to later stages or to Java.
MISSING_EXPORTS = {
    "AsyncDataStream",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
}
MISSING_METHODS = {
    "data_stream.DataStream": {"cache"},
    "data_stream.KeyedStream": {"cache"},
    "slot_sharing_group.MemorySize": {"get_java_memory_size"},
    "slot_sharing_group.SlotSharingGroup": {"get_java_slot_sharing_group"},
    "output_tag.OutputTag": {"get_java_output_tag"},
}


def load(path: str) -> Any:
    module, _, name = path.partition(".")
    return getattr(importlib.import_module(f"wiesel.datastream.{module}"), name)


def parameters(function: Any) -> list[list[str]]:
    found = inspect.signature(function).parameters.values()
    return [[p.name, p.kind.name, "" if p.default is p.empty else repr(p.default)] for p in found if p.name != "self"]


def test_the_package_exports_what_pyflink_exports() -> None:
    assert set(RECORDED["exports"]) - set(wiesel.datastream.__all__) == MISSING_EXPORTS


@pytest.mark.parametrize("path", sorted(RECORDED["classes"]))
def test_methods_take_the_same_parameters(path: str) -> None:
    cls = load(path)
    differing = {}
    for name, wanted in RECORDED["classes"][path].items():
        if name in MISSING_METHODS.get(path, set()):
            assert not hasattr(cls, name), f"{path}.{name} exists now: take it off the list"
            continue
        method = inspect.getattr_static(cls, name, None)
        method = method.__func__ if isinstance(method, staticmethod) else method
        found = None if method is None else parameters(method)
        # Parameters of our own may follow those of PyFlink.
        if found is None or found[: len(wanted)] != wanted:
            differing[name] = (wanted, found)
    assert not differing


@pytest.mark.parametrize("path", sorted(RECORDED["enums"]))
def test_enumerations_have_the_same_members(path: str) -> None:
    assert {member.name: member.value for member in load(path)} == RECORDED["enums"][path]
