"""A web server that counts how often each of its files is read."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ServedFiles:
    """The files of a server, by name, and how often each was read."""

    def __init__(self, address: str, files: dict[str, bytes]) -> None:
        self.address = address
        self.files = files
        self.reads: Counter[str] = Counter()
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    served: ServedFiles

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        name = self.path.lstrip("/")
        data = self.served.files.get(name)
        self.send_response(404 if data is None else 200)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        if body and data is not None:
            with self.served.lock:
                self.served.reads[name] += 1
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serve(**files: bytes) -> Iterator[ServedFiles]:
    """Serve files on 127.0.0.1 until the end of the block."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    served = ServedFiles(f"http://127.0.0.1:{server.server_port}", files)
    handler.served = served  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
