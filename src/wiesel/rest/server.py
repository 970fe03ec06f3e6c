"""Internal. The HTTP server of a REST API: few requests, from this machine, with the token of the job.

It is the standard library's server, so that jobs start as fast as without it. Do not expose it publicly: a server that is meant for that
belongs in front of it.
"""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from wiesel.core.errors import WieselError
from wiesel.core.logs import get_logger
from wiesel.rest.routes import Reply, Request, Routes, error

__all__ = ["RestServer"]

_log = get_logger("wiesel.rest")
_MOST_BODY_BYTES = 1 << 20
_IDLE_S = 30


class RestServer(ThreadingHTTPServer):
    """Listens at an address and answers requests that carry the token.

    Args:
        address: Host and port; 0 for a free one.
        routes: Answers the requests.
        token: The secret that requests must carry.

    Raises:
        OSError: It cannot listen there.
    """

    daemon_threads = True

    def __init__(self, address: tuple[str, int], routes: Routes, token: str) -> None:
        self.routes = routes
        self.token = token
        self._answering = 0
        self._answered = threading.Condition()
        super().__init__(address, _Handler)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """A request is being answered, until the answer has been sent."""
        with self._answered:
            self._answering += 1
        try:
            yield
        finally:
            with self._answered:
                self._answering -= 1
                self._answered.notify_all()

    def wait_until_answered(self, timeout_s: float) -> None:
        """Wait until all requests have been answered, but not for ever."""
        with self._answered:
            self._answered.wait_for(lambda: self._answering == 0, timeout_s)


class _Handler(BaseHTTPRequestHandler):
    server: RestServer
    server_version = "Wiesel"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        with self.server.answering():
            self._send(self._answer_to_request())

    def _answer_to_request(self) -> Reply:
        try:
            return self._reply()
        except FutureTimeoutError:
            return error(503, "the job is busy; try again later")
        except WieselError as failure:
            return error(409, str(failure))
        except Exception as failure:  # noqa: BLE001 - told to whoever has asked
            _log.error("the request %s %s failed", self.command, self.path, exc_info=failure)
            return error(500, f"{type(failure).__name__}: {failure}")

    def _reply(self) -> Reply:
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode()):
            # The rest of the request is not read.
            self.close_connection = True
            return error(401, "the request needs the header 'Authorization: Bearer <token of the job>'")
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > _MOST_BODY_BYTES or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            return error(413, f"a request has a Content-Length of at most {_MOST_BODY_BYTES} bytes")
        data = self.rfile.read(int(length))
        try:
            body = json.loads(data) if data.strip() else {}
        except ValueError as wrong:
            return error(400, f"the body is not JSON: {wrong}")
        if not isinstance(body, dict):
            return error(400, "the body is not a JSON object")
        parts = urlsplit(self.path)
        return self.server.routes.answer(Request(self.command, parts.path, dict(parse_qsl(parts.query)), body))

    def _send(self, reply: Reply) -> None:
        data = json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        _log.debug(format, *args)
