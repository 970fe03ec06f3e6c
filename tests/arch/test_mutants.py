"""The guards that ``make mutants`` takes out are where it looks for them."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from tests.arch.repository import ROOT


def _script() -> Any:
    spec = importlib.util.spec_from_file_location("mutation_check", ROOT / "scripts" / "mutation_check.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("mutant", _script().MUTANTS, ids=lambda mutant: mutant.name)
def test_a_guard_is_there_once_and_its_tests_are_there(mutant: Any) -> None:
    text = (ROOT / "src" / "wiesel" / mutant.file).read_text()
    assert text.count(mutant.guard) == 1, "scripts/mutation_check.py names a guard that has changed: describe it anew"
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert f"def {name}" in (ROOT / file).read_text()
