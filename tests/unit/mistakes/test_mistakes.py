"""Each mistake of the corpus is answered by what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from .corpus import Mistake, faults, make_mistake, read_corpus

CORPUS = read_corpus()


@pytest.mark.parametrize("mistake", CORPUS, ids=str)
def test_a_mistake_is_answered_well(mistake: Mistake, tmp_path: Path) -> None:
    exit_code, shown = make_mistake(mistake, tmp_path)
    assert not faults(mistake, exit_code, shown), shown
