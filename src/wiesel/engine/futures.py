"""Internal. Requests to a job, answered in its thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Ask = Callable[[Callable[[], Any]], "Future[Any]"]
"""Runs a request in the thread of the job."""


class Question(Generic[T]):
    """A request submitted by two threads, as the job's thread may end before it executes it: the first one executes it.

    Attributes:
        answer: The outcome.
    """

    def __init__(self, question: Callable[[], T]) -> None:
        self._question = question
        self._once = threading.Lock()
        self.answer: Future[T] = Future()

    def __call__(self) -> None:
        """Execute the request, unless it has been."""
        if not self._once.acquire(blocking=False):
            return
        try:
            self.answer.set_result(self._question())
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            self.answer.set_exception(error)


def ask_later(ask: Ask, question: Callable[[], Future[T]]) -> Future[T]:
    """Execute a request with an asynchronous answer; return the answer."""
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
