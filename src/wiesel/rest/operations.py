"""Internal. Asynchronous operations of a job's endpoint: savepoints, checkpoints, the stop; by trigger id."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from uuid import uuid4

from wiesel.rest.answers import cause

_MOST = 1000
_TRIGGER_ID = re.compile(r"[0-9a-f]{32}")


class Operations:
    """Operations and their answers. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._futures: OrderedDict[str, tuple[Future[Any], Callable[[Any], dict[str, Any]]]] = OrderedDict()
        self._untold: set[str] = set()

    def start(self, begin: Callable[[], Future[Any]], answer: Callable[[Any], dict[str, Any]], trigger_id: str | None) -> str:
        """Begin an operation and return its trigger id; a known one is not begun again.

        Args:
            begin: Starts the operation.
            answer: Converts its result to JSON.
            trigger_id: Chosen by the caller, so that the request can be repeated; None for a new one.

        Raises:
            ValueError: If the trigger id does not have 32 hexadecimal digits.
        """
        if trigger_id is not None and not _TRIGGER_ID.fullmatch(trigger_id):
            raise ValueError("triggerId has to have 32 hexadecimal digits")
        chosen = trigger_id or uuid4().hex
        with self._lock:
            if chosen not in self._futures:
                self._futures[chosen] = (begin(), answer)
                self._untold.add(chosen)
                if len(self._futures) > _MOST:
                    self._untold.discard(self._futures.popitem(last=False)[0])
        return chosen

    def status(self, trigger_id: str) -> dict[str, Any] | None:
        """Return the status of an operation, None if the id is unknown."""
        with self._lock:
            known = self._futures.get(trigger_id)
            if known is None:
                return None
            future, answer = known
            if not future.done():
                return {"status": {"id": "IN_PROGRESS"}, "operation": None}
            self._untold.discard(trigger_id)
            self._lock.notify_all()
        error = future.exception()
        operation = answer(future.result()) if error is None else {"failure-cause": cause(error)}
        return {"status": {"id": "COMPLETED"}, "operation": operation}

    def wait_until_told(self, timeout_s: float) -> None:
        """Wait until the requesters of all operations have received their outcome, with a timeout."""
        with self._lock:
            self._lock.wait_for(lambda: not self._untold, timeout_s)
