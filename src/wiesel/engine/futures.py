"""Internal. Questions to a job that are answered in its own thread, some of them later."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
Ask = Callable[[Callable[[], Any]], "Future[Any]"]
"""Runs a question in the thread of the job."""


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
