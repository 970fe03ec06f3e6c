"""Internal. The HTTP server around ``Routes``: for occasional requests from this machine, authenticated by the job's token.

It is the standard library's server, which does not slow down a job's start; do not expose it publicly. To serve many jobs to others, use a
full web server in front of it.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.errors import ConfigurationError, WieselError
from wiesel.core.logs import get_logger
from wiesel.engine.futures import Ask
from wiesel.engine.job_master import JobMaster
from wiesel.engine.registry import JobEntry, register, registry_directory
from wiesel.engine.rest.routes import Reply, Request, Routes, error

_log = get_logger("wiesel.rest")
_MOST_BODY_BYTES = 1 << 20
_IDLE_S = 30
_UNTOLD_S = 5.0


class JobEndpoint:
    """The endpoint of one job, and its entry among the running jobs.

    Raises:
        ConfigurationError: If it cannot listen on the configured address.
    """

    def __init__(self, master: JobMaster, ask: Ask, config: Configuration) -> None:
        self._master = master
        self._routes = Routes(master, ask)
        self._directory = registry_directory(config)
        self._unregister: Callable[[], None] | None = None
        self.token = secrets.token_urlsafe(32)
        host, port = config.get(opt.REST_ADDRESS), config.get(opt.REST_PORT)
        try:
            self._server = _Server((host, port), self._routes, self.token)
        except OSError as failure:
            raise ConfigurationError(
                f"the REST endpoint of the job cannot listen at {host}:{port}: {failure.strerror or failure}",
                hint="set wiesel.rest.port to 0 for a port that is free, or wiesel.rest.enabled to false",
            ) from failure
        self.address = f"http://{_bracketed(host)}:{self._server.server_port}"

    def announce(self) -> None:
        """Register the started job, whose id is known now, and answer requests.

        A failed registration does not end the job.
        """
        master = self._master
        threading.Thread(target=self._server.serve_forever, name="wiesel-rest", daemon=True).start()
        name, started_ms = master.plan.graph.job.job_name, master.history.started_ms
        try:
            self._unregister = register(
                JobEntry(master.job_id, name, os.getpid(), started_ms, self.address, self.token), self._directory
            )
        except (OSError, WieselError) as failure:
            self._unregister = _nothing
            _log.warning("the commands of wiesel will not find this job: %s", failure)

    def close(self) -> None:
        """Close the endpoint after the requesters of savepoints have been answered. Returns immediately."""
        if self._unregister is None:
            self._server.server_close()
        else:
            # Not a daemon thread: the process waits until they have been answered, which takes a moment.
            threading.Thread(target=self._end, args=(self._unregister,), name="wiesel-rest-end").start()

    def _end(self, unregister: Callable[[], None]) -> None:
        self._routes.operations.wait_until_told(_UNTOLD_S)
        unregister()
        self._server.shutdown()
        # The last answer may not have been transmitted, and the process may end after this thread.
        self._server.wait_until_answered(_UNTOLD_S)
        self._server.server_close()


def _nothing() -> None:
    pass


def open_endpoint(master: JobMaster, ask: Ask, config: Configuration) -> JobEndpoint | None:
    """Open the endpoint of a job, if enabled.

    Raises:
        ConfigurationError: If it cannot listen on the configured address.
    """
    return JobEndpoint(master, ask, config) if config.get(opt.REST_ENABLED) else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class _Server(ThreadingHTTPServer):
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
    server: _Server
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
