"""The public names and signatures of ``wiesel.common`` and ``wiesel.metrics`` beside those of PyFlink 2.3."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

PYFLINK: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "pyflink_names.json").read_text())

# Wrappers of Java objects, which there are none of.
JAVA_ONLY = {
    "pyflink.common": {"AssignerWithPeriodicWatermarksWrapper"},
    "pyflink.common.watermark_strategy": {"AssignerWithPeriodicWatermarksWrapper"},
    "pyflink.common.serialization": {"BulkWriterFactory", "RowDataBulkWriterFactory"},
}
JAVA_MEMBERS = {"get_java_type_info", "to_j_row_kind"}
# Parts of PyFlink's own machinery that happen to have public names.
INNER = {"need_conversion", "to_internal_type", "from_internal_type", "EPOCH_ORDINAL", "name", "value"}


def _members() -> list[tuple[str, str]]:
    return [(module, name) for module, names in PYFLINK.items() for name in names if name not in JAVA_ONLY.get(module, ())]


@pytest.mark.parametrize(("module", "name"), _members())
def test_every_public_name_is_here_with_its_methods_and_arguments(module: str, name: str) -> None:
    ours = getattr(importlib.import_module(module.replace("pyflink", "wiesel")), name)
    for member, parameters in PYFLINK[module][name].items():
        if member in JAVA_MEMBERS | INNER:
            continue
        assert hasattr(ours, member), f"{name}.{member} is missing"
        if parameters is not None:
            _check_arguments(f"{name}.{member}", inspect.signature(getattr(ours, member)), parameters)


def _check_arguments(name: str, signature: inspect.Signature, theirs: list[str]) -> None:
    ours = [p for p in signature.parameters.values() if p.name != "self"]
    named = [p.name for p in ours if p.kind is not inspect.Parameter.VAR_KEYWORD]
    assert named[: len(theirs)] == theirs, f"{name}{signature} against {theirs}"
    extra = [p for p in ours[len(theirs) :] if p.default is inspect.Parameter.empty and p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert not extra, f"{name}{signature} wants more than {theirs}"
