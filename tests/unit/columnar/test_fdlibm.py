"""Elementary functions have Java's results to the last digit, on every processor (recorded by ``record_strict_math.py``)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wiesel.columnar.functions import fdlibm

GOLDEN = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "strict_math.json").read_text())


@pytest.mark.parametrize("name", fdlibm.__all__)
def test_results_are_those_of_java(name: str) -> None:
    given, wanted = (np.array([float.fromhex(row[i]) for row in GOLDEN[name]]) for i in (0, 1))
    with np.errstate(all="ignore"):
        found = getattr(fdlibm, name)(given)
    # Bits, but for those of what is no number: zeros have a sign.
    wrong = (found.view(np.int64) != wanted.view(np.int64)) & ~(np.isnan(found) & np.isnan(wanted))
    assert not list(zip(given[wrong], wanted[wrong], found[wrong], strict=True))


def test_a_column_may_be_empty() -> None:
    assert all(getattr(fdlibm, name)(np.array([])).size == 0 for name in fdlibm.__all__)
