"""Functions called for whole batches: what they raise names its record, and nothing that they raise ends a batch early."""

from __future__ import annotations

import pytest

from wiesel.core.errors import UserFunctionError
from wiesel.runtime.user_code import map_all


def nothing_for(refused: int):
    def function(value, *more):
        if value == refused:
            raise StopIteration
        return (value, *more)

    return function


@pytest.mark.parametrize("refused", [1, 2, 3])
def test_a_stop_iteration_does_not_cut_the_results_short(refused: int) -> None:
    with pytest.raises(UserFunctionError, match=rf"StopIteration(?s:.*)with record {refused}") as caught:
        map_all(nothing_for(refused), [1, 2, 3])
    assert "in function" in caught.value.details["location"]


def test_the_record_that_fails_is_named() -> None:
    assert map_all(nothing_for(9), [1, 2], ["a", "b"]) == [(1, "a"), (2, "b")]
    with pytest.raises(UserFunctionError, match=r"ZeroDivisionError(?s:.*)with record 0"):
        map_all(lambda value: 1 // value, [2, 0, 1])
