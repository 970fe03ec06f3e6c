"""Hashes of many keys at once are those by which keys are told apart one by one: state lies where they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiesel.state.key_groups import ChannelSelector, stable_hash
from wiesel.state.key_hashes import hashes_of_integers, hashes_of_strings, hashes_of_tuples, hashes_of_tuples_of_text

BITS = (8, 16, 32, 64)


@st.composite
def columns(draw: st.DrawFn) -> list[np.ndarray]:
    """Columns of one length, of any width of integers; numbers near the borders come often."""
    length = draw(st.integers(0, 20))
    kinds = draw(st.lists(st.sampled_from(BITS), min_size=1, max_size=4))
    return [
        np.array(draw(st.lists(st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1), min_size=length, max_size=length)), f"int{bits}")
        for bits in kinds
    ]


@given(columns())
def test_of_tuples(given_columns: list[np.ndarray]) -> None:
    rows = list(zip(*(column.tolist() for column in given_columns), strict=True))
    assert hashes_of_tuples(given_columns).tolist() == [stable_hash(row) for row in rows]


@given(columns())
def test_of_integers(given_columns: list[np.ndarray]) -> None:
    for column in given_columns:
        assert hashes_of_integers(column).tolist() == [stable_hash(number) for number in column.tolist()]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_of_texts(texts: list[str]) -> None:
    assert hashes_of_strings(texts).tolist() == [stable_hash(text) for text in texts]
    assert hashes_of_tuples_of_text([text.encode() for text in texts]).tolist() == [stable_hash((text,)) for text in texts]


def test_of_every_other_number() -> None:
    assert hashes_of_integers(np.arange(100)[10:60:2]).tolist() == [stable_hash(number) for number in range(10, 60, 2)]


@pytest.mark.parametrize("parallelism", [1, 3, 7])
def test_channels_stay_the_same_when_there_are_more_keys_than_can_be_remembered(parallelism: int) -> None:
    numbers = np.random.default_rng(7).integers(-(2**63), 2**63 - 1, 5_000).tolist()
    for keys in (numbers, [f"k{number} ä" for number in numbers]):
        selector = ChannelSelector(128, parallelism, cached_keys=1_000)
        expected = [selector.channel(key) for key in keys]
        assert selector.channels(keys) == selector.channels(keys) == expected
        assert len(set(expected)) == parallelism
        assert {type(channel) for channel in selector.channels(keys)} == {int}
        for other in (2**70, True, "a", "\ud800", (1, 2), 1.0, None):
            mixed = [*keys[:100], other]
            assert selector.channels(mixed) == [selector.channel(key) for key in mixed]
