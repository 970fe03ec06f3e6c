"""Internal. Routes of the REST API. Pure: converts a request to a status and JSON; the HTTP server is in ``server``."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from wiesel.core.durations import to_millis
from wiesel.core.errors import ConfigurationError
from wiesel.rest import answers, settings
from wiesel.rest.gateway import JobGateway
from wiesel.rest.operations import Operations
from wiesel.rest.views import JobView

_ANSWER_S = 60.0
"""The time limit for answers of the job, whose JobMaster may be busy."""


@dataclass(frozen=True)
class Request:
    """A request that carries the right token."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """The answer to a request."""

    status: int
    body: Any = field(default_factory=dict)


def error(status: int, message: str) -> Reply:
    """Return an error as Flink's API does."""
    return Reply(status, {"errors": [message]})


class Routes:
    """The paths of one job.

    Args:
        gateway: The job.
    """

    def __init__(self, gateway: JobGateway) -> None:
        self._gateway = gateway
        self.operations = Operations()
        job = r"/jobs/(?P<job>[^/]+)"
        self._routes: list[tuple[str, re.Pattern[str], Callable[..., Reply]]] = [
            (method, re.compile(f"(?:/v1)?{path}"), handler)
            for method, path, handler in (
                ("GET", "/jobs", self._jobs),
                ("GET", "/jobs/overview", self._overview),
                ("GET", job, self._details),
                ("PATCH", job, self._patch),
                ("GET", f"{job}/status", self._status),
                ("GET", f"{job}/exceptions", self._exceptions),
                ("GET", f"{job}/config", lambda request: self._told(settings.of_job)),
                ("GET", f"{job}/jobmanager/config", lambda request: self._told(settings.of_cluster)),
                ("GET", f"{job}/checkpoints", self._checkpoints),
                ("GET", f"{job}/checkpoints/config", lambda request: self._told(settings.of_checkpoints)),
                ("POST", f"{job}/checkpoints", self._trigger_checkpoint),
                ("GET", f"{job}/checkpoints/details/(?P<checkpoint>[0-9]+)", self._checkpoint),
                ("GET", f"{job}/checkpoints/details/(?P<checkpoint>[0-9]+)/subtasks/(?P<vertex>[^/]+)", self._checkpoint_task),
                ("GET", f"{job}/(?:checkpoints|savepoints)/(?P<trigger>[0-9a-f]{{32}})", self._operation),
                ("POST", f"{job}/savepoints", self._trigger_savepoint),
                ("POST", f"{job}/stop", self._stop),
                ("PATCH", f"{job}/rescaling", self._rescale),
                ("GET", f"{job}/rescaling/(?P<trigger>[0-9a-f]{{32}})", self._operation),
                ("GET", f"{job}/resource-requirements", self._requirements),
                ("PUT", f"{job}/resource-requirements", self._require),
            )
        ]

    def answer(self, request: Request) -> Reply:
        """Answer a request."""
        path = request.path.rstrip("/") or "/"
        known = [(method, match, handler) for method, pattern, handler in self._routes if (match := pattern.fullmatch(path))]
        # ``/jobs/overview`` is no job.
        for method, match, handler in known:
            if method == request.method:
                values = match.groupdict()
                job = values.pop("job", None)
                if job is not None and job != self._gateway.job_id:
                    return error(404, f"Job {job} not found")
                try:
                    return handler(request, **values)
                except ValueError as wrong:
                    return error(400, str(wrong))
        if known:
            return error(405, f"{path} does not take {request.method}")
        return error(404, f"there is nothing at {path}")

    def _told(self, answer_of: Callable[[JobView], Any]) -> Reply:
        answer = answer_of(self._gateway.view().result(_ANSWER_S))
        return error(404, "the job does not know it, or not any more") if answer is None else Reply(200, answer)

    # Queries

    def _jobs(self, request: Request) -> Reply:
        return self._told(answers.jobs)

    def _overview(self, request: Request) -> Reply:
        return self._told(answers.overview)

    def _details(self, request: Request) -> Reply:
        return self._told(answers.details)

    def _status(self, request: Request) -> Reply:
        return Reply(200, {"status": self._gateway.status.name})

    def _exceptions(self, request: Request) -> Reply:
        return self._told(answers.exceptions)

    def _checkpoints(self, request: Request) -> Reply:
        return self._told(answers.checkpoints)

    def _checkpoint(self, request: Request, checkpoint: str) -> Reply:
        return self._told(lambda job: answers.checkpoint(job, int(checkpoint)))

    def _checkpoint_task(self, request: Request, checkpoint: str, vertex: str) -> Reply:
        return self._told(lambda job: answers.checkpoint_task(job, int(checkpoint), vertex))

    def _operation(self, request: Request, trigger: str) -> Reply:
        status = self.operations.status(trigger)
        if status is None:
            return error(404, f"there is no operation with the trigger id {trigger}")
        if status["operation"] is None and "progress" in request.query:
            status["progress"] = self._gateway.checkpoint_progress().result(_ANSWER_S)
        return Reply(200, status)

    # Operations

    def _patch(self, request: Request) -> Reply:
        mode = request.query.get("mode", "cancel")
        if mode != "cancel":
            return error(400, f"mode {mode!r} is not supported; use cancel, or POST to .../stop")
        self._gateway.cancel().result(_ANSWER_S)
        return Reply(202)

    def _trigger_savepoint(self, request: Request) -> Reply:
        directory, label = _text(request.body, "target-directory"), _text(request.body, "label") or ""
        _check_format(request.body)
        if _flag(request.body, "cancel-job"):
            return self._begin_savepoint(request, directory, label, stop=True, drain=False)
        return self._begin_savepoint(request, directory, label, stop=False, drain=False)

    def _stop(self, request: Request) -> Reply:
        directory, label = _text(request.body, "targetDirectory"), _text(request.body, "label") or ""
        _check_format(request.body)
        return self._begin_savepoint(request, directory, label, stop=True, drain=_flag(request.body, "drain"))

    def _begin_savepoint(self, request: Request, directory: str | None, label: str, *, stop: bool, drain: bool) -> Reply:
        after_ms = _duration_ms(request.body, "alignedTimeout")

        def take() -> Future[str]:
            return self._gateway.savepoint(directory, stop=stop, drain=drain, label=label, aligned_timeout_ms=after_ms)

        return self._begin(request, take, lambda path: {"location": path})

    def _trigger_checkpoint(self, request: Request) -> Reply:
        kind = _text(request.body, "checkpointType") or "CONFIGURED"
        if kind not in ("CONFIGURED", "INCREMENTAL"):
            raise ValueError(f"checkpointType {kind!r} is not supported: checkpoints are incremental; a savepoint is a full snapshot")
        return self._begin(request, self._gateway.checkpoint, lambda number: {"checkpointId": number})

    def _rescale(self, request: Request) -> Reply:
        given = request.query.get("parallelism", "")
        if not given.isdecimal() or int(given) < 1:
            raise ValueError(f"the query parameter 'parallelism' has to be a number from 1, got {given!r}")
        return self._begin(request, lambda: self._gateway.rescale(int(given)), answers.rescaled)

    def _requirements(self, request: Request) -> Reply:
        return self._told(answers.requirements)

    def _require(self, request: Request) -> Reply:
        bounds = answers.requirements_of(self._gateway.view().result(_ANSWER_S), request.body)
        try:
            self._gateway.require(bounds).result(_ANSWER_S)
        except ConfigurationError as wrong:
            raise ValueError(str(wrong)) from wrong
        return Reply(200)

    def _begin(self, request: Request, begin: Callable[[], Future[Any]], answer: Callable[[Any], dict[str, Any]]) -> Reply:
        trigger = self.operations.start(begin, answer, _text(request.body, "triggerId"))
        return Reply(202, {"request-id": trigger})


def _text(body: dict[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} has to be a string, got {value!r}")
    return value or None


def _flag(body: dict[str, Any], name: str) -> bool:
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"{name} has to be true or false, got {value!r}")
    return value


def _duration_ms(body: dict[str, Any], name: str) -> int | None:
    value = _text(body, name)
    try:
        return None if value is None else to_millis(value)
    except ConfigurationError as wrong:
        raise ValueError(f"{name}: {wrong}") from wrong


def _check_format(body: dict[str, Any]) -> None:
    wanted = _text(body, "formatType") or "CANONICAL"
    if wanted != "CANONICAL":
        raise ValueError(f"formatType {wanted!r} is not supported: savepoints are canonical, readable by every backend")
