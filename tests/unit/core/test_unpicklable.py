"""What cannot be pickled is named as its user knows it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from wiesel.core.unpicklable import what_cannot_be_pickled

lock = threading.Lock()


class Holder:
    def __init__(self, held: Any) -> None:
        self.fine = 1
        self.held = held

    def method(self, value: int) -> int:
        return value


def enclosing() -> Callable[[int], int]:
    mine = threading.Lock()

    def guarded(value: int) -> int:
        with mine:
            return value

    return guarded


def uses_global(value: int) -> int:
    with lock:
        return value


uses_global.__module__ = "__main__"


def chain() -> Callable[[int], int]:
    helper = Holder(threading.Lock())
    return lambda value: helper.method(value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (uses_global, "global variable 'lock' of uses_global is a _thread.lock"),
        (enclosing(), "'mine' of guarded is a _thread.lock"),
        (Holder(threading.Lock()), "attribute 'held' of Holder is a _thread.lock"),
        (Holder(threading.Lock()).method, "attribute 'held' of Holder is a _thread.lock"),
        ({"payload": [partial(enclosing())]}, "'mine' of guarded is a _thread.lock"),
        (chain(), "attribute 'held' of Holder, in 'helper' of <lambda> is a _thread.lock"),
        (Holder(1), None),
    ],
)
def test_the_reason_is_named(value: Any, told: str | None) -> None:
    assert what_cannot_be_pickled(value) == told


def test_what_holds_itself_is_searched_once() -> None:
    holder = Holder(None)
    holder.held = [holder, threading.Lock()]
    assert what_cannot_be_pickled(holder) == "attribute 'held' of Holder is a _thread.lock"
