"""Internal. Answers that come from another answer."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def done(value: T) -> Future[T]:
    """Return an answer that is there already."""
    answer: Future[T] = Future()
    answer.set_result(value)
    return answer


def forward(source: Future[T], target: Future[T]) -> None:
    """Give the answer of ``source``, when it comes, to ``target`` too."""

    def came(_: Future[T]) -> None:
        if not target.set_running_or_notify_cancel():
            return
        error = source.exception()
        if error is not None:
            target.set_exception(error)
        else:
            target.set_result(source.result())

    source.add_done_callback(came)
