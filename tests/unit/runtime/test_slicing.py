"""Slices: large where functions are fast, single records where they are slow."""

from __future__ import annotations

from wiesel.runtime.slicing import SliceSizer, cut
from wiesel.wire.batch import Batch


def test_the_first_record_goes_alone_and_fast_functions_soon_get_whole_batches() -> None:
    sizer = SliceSizer()
    sizes = []
    for _ in range(8):
        sizes.append(sizer.size)
        sizer.took(sizer.size, 1e-6 * sizer.size)
    assert sizes[0] == 1
    assert sizes == sorted(sizes)
    assert sizes[-1] >= 2000


def test_behind_a_slow_function_records_go_one_by_one() -> None:
    sizer = SliceSizer()
    for _ in range(10):
        sizer.took(sizer.size, 0.1 * sizer.size)
        assert sizer.size == 1


def test_a_function_that_becomes_slow_shrinks_the_slices_to_about_ten_milliseconds() -> None:
    sizer = SliceSizer()
    while sizer.size < 1000:
        sizer.took(sizer.size, 0.0)
    sizer.took(1000, 1.0)
    assert sizer.size == 10


def test_a_batch_smaller_than_the_slice_does_not_grow_it() -> None:
    sizer = SliceSizer()
    sizer.took(1, 0.0)
    size = sizer.size
    sizer.took(1, 0.0)
    assert sizer.size == size


def test_cut_keeps_values_timestamps_and_keys_together() -> None:
    first, rest = cut(Batch([1, 2, 3], [10, 20, 30], ["a", "b", "c"]), 2)
    assert (first.values, first.timestamps, first.keys) == ([1, 2], [10, 20], ["a", "b"])
    assert rest is not None
    assert (rest.values, rest.timestamps, rest.keys) == ([3], [30], ["c"])
    assert cut(Batch([1, 2]), 2)[1] is None
