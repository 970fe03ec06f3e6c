"""Internal. The REST endpoint of a job in the process of its JobMaster, and its entry among the running jobs of the machine."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.errors import ConfigurationError, WieselError
from wiesel.core.logs import get_logger
from wiesel.engine.futures import Ask
from wiesel.engine.gateway import MasterGateway
from wiesel.engine.job_master import JobMaster
from wiesel.engine.registry import JobEntry, register, registry_directory
from wiesel.rest.routes import Routes
from wiesel.rest.server import RestServer

__all__ = ["JobEndpoint", "open_endpoint"]

_log = get_logger("wiesel.rest")
_UNTOLD_S = 5.0
"""The time that clients have to fetch the results of their operations when the job has ended."""


class JobEndpoint:
    """The endpoint of one job, and its entry among the running jobs.

    Raises:
        ConfigurationError: If it cannot listen on the configured address.
    """

    def __init__(self, master: JobMaster, ask: Ask, config: Configuration) -> None:
        self._master = master
        self._routes = Routes(MasterGateway(master, ask))
        self._directory = registry_directory(config)
        self._unregister: Callable[[], None] | None = None
        self.token = secrets.token_urlsafe(32)
        host, port = config.get(opt.REST_ADDRESS), config.get(opt.REST_PORT)
        try:
            self._server = RestServer((host, port), self._routes, self.token)
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
