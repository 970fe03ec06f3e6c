"""Internal. Questions to a job that are answered in its own thread, some of them later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Ask = Callable[[Callable[[], Any]], "Future[Any]"]
"""Runs a question in the thread of the job."""


class Question(Generic[T]):
    """A question that is put from two sides, since the thread of the job may end before it comes to it: whoever is first asks.

    Attributes:
        answer: What came of it.
    """

    def __init__(self, question: Callable[[], T]) -> None:
        self._question = question
        self._once = threading.Lock()
        self.answer: Future[T] = Future()

    def __call__(self) -> None:
        """Ask, unless that was done."""
        if not self._once.acquire(blocking=False):
            return
        try:
            self.answer.set_result(self._question())
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            self.answer.set_exception(error)


def ask_later(ask: Ask, question: Callable[[], Future[T]]) -> Future[T]:
    """Ask a question of which the answer comes later; return the answer."""
    answer: Future[T] = Future()
    answer.set_running_or_notify_cancel()

    def came(source: Future[T]) -> None:
        error = source.exception()
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(source.result())

    def asked(reply: Future[Future[T]]) -> None:
        refused = reply.exception()
        if refused is not None:
            answer.set_exception(refused)
        else:
            reply.result().add_done_callback(came)

    ask(question).add_done_callback(asked)
    return answer
