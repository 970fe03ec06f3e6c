"""The REST endpoint of a job: Flink's paths and answers, who may ask, and what becomes of a job that is asked for something."""

from __future__ import annotations

import http.client
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.unit.engine.stored_job import StoredJob, totals
from wiesel.common import Configuration
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import ConfigurationError
from wiesel.engine.endpoint import JobEndpoint
from wiesel.engine.gateway import MasterGateway
from wiesel.engine.registry import JobEntry, register, running_jobs
from wiesel.rest import server
from wiesel.rest.routes import Reply, Request, Routes
from wiesel.testing import ManualSource


def at_once(question: Callable[[], Any]) -> Future[Any]:
    """Answer in this thread: nothing else runs while a question is asked."""
    answer: Future[Any] = Future()
    try:
        answer.set_result(question())
    except Exception as error:  # noqa: BLE001 - handed to whoever asked
        answer.set_exception(error)
    return answer


class Asked:
    """A job, and its routes."""

    def __init__(self, job: StoredJob, numbers: ManualSource) -> None:
        self.job, self.numbers = job, numbers
        self.routes = Routes(MasterGateway(job.master, at_once))
        self.path = f"/jobs/{job.master.job_id}"

    def reply(self, method: str, path: str = "", body: dict[str, Any] | None = None, **query: str) -> Reply:
        return self.routes.answer(Request(method, self.path + path, query, body or {}))

    def get(self, path: str = "") -> dict[str, Any]:
        reply = self.reply("GET", path)
        assert reply.status == 200, reply
        return reply.body

    def operation(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Begin an operation, let the job go on until it is over, and return how it ended."""
        reply = self.reply("POST", path, body)
        assert reply.status == 202, reply
        trigger = reply.body["request-id"]
        status = self.get(f"{path if path != '/stop' else '/savepoints'}/{trigger}")
        assert status == {"status": {"id": "IN_PROGRESS"}, "operation": None}
        self.job.until(lambda: self.get(f"/savepoints/{trigger}")["status"]["id"] == "COMPLETED", "answer")
        done: dict[str, Any] = self.get(f"/savepoints/{trigger}")["operation"]
        return done


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "checkpoints", execution_checkpointing_savepoint__dir=str(tmp_path / "savepoints"))
    with job:
        yield Asked(job, numbers)


def test_the_job_and_its_vertices(asked: Asked) -> None:
    job_id = asked.job.master.job_id
    asked.numbers.push_all([("a", 1), ("b", 2)])
    asked.job.settle()
    assert asked.routes.answer(Request("GET", "/jobs")).body == {"jobs": [{"id": job_id, "status": "RUNNING"}]}
    assert asked.routes.answer(Request("GET", "/v1/jobs/")).body == {"jobs": [{"id": job_id, "status": "RUNNING"}]}
    (overview,) = asked.routes.answer(Request("GET", "/jobs/overview")).body["jobs"]
    details = asked.get()
    assert overview["jid"] == details["jid"] == job_id and overview["state"] == details["state"] == "RUNNING"
    assert overview["tasks"]["total"] == overview["tasks"]["running"] == sum(v["parallelism"] for v in details["vertices"])
    assert details["end-time"] == -1 and details["timestamps"]["FINISHED"] == 0
    assert details["timestamps"]["CREATED"] == details["start-time"]
    assert [node["id"] for node in details["plan"]["nodes"]] == [v["id"] for v in details["vertices"]]
    first, second = details["vertices"][0]["id"], details["plan"]["nodes"][1]
    assert second["inputs"] == [{"num": 0, "id": first, "ship_strategy": "HASH", "exchange": "pipelined_bounded"}]
    assert asked.get("/status") == {"status": "RUNNING"}
    json.dumps(details)


SUBTASK = set(
    "index status ack_timestamp end_to_end_duration checkpointed_size state_size checkpoint alignment start_delay unaligned_checkpoint "
    "aborted".split()
)
"""What Flink's ``CompletedSubtaskCheckpointStatistics`` has."""


def test_checkpoints_are_told_with_their_parts(asked: Asked) -> None:
    assert asked.get("/checkpoints")["counts"] == {"restored": 0, "total": 0, "in_progress": 0, "completed": 0, "failed": 0}
    asked.numbers.push_all([(f"key {n}", n) for n in range(5000)])
    asked.job.settle()
    assert asked.operation("/checkpoints", {"checkpointType": "CONFIGURED"}) == {"checkpointId": 1}
    location = asked.operation("/savepoints", {"label": "before"})["location"]
    told = asked.get("/checkpoints")
    assert told["counts"] == {"restored": 0, "total": 2, "in_progress": 0, "completed": 2, "failed": 0}
    assert [(c["id"], c["is_savepoint"], c["external_path"]) for c in told["history"]] == [
        (2, True, location),
        (1, False, str(asked.job.directory / "chk-1")),
    ]
    assert told["latest"]["completed"]["id"] == 1 and told["latest"]["savepoint"]["id"] == 2 and told["latest"]["failed"] is None
    written = sum(p.stat().st_size for p in (asked.job.directory / "shared").iterdir())
    details = asked.get("/checkpoints/details/1")
    assert details["state_size"] >= written > 20_000
    assert sum(task["state_size"] for task in details["tasks"].values()) == details["state_size"]
    assert sum(len(task["subtasks"]) for task in details["tasks"].values()) == details["num_subtasks"]
    for vertex_id, task in details["tasks"].items():
        alone = asked.get(f"/checkpoints/details/1/subtasks/{vertex_id}")
        assert alone["subtasks"] == task["subtasks"] and alone["summary"]["state_size"]["max"] == max(
            subtask["state_size"] for subtask in task["subtasks"]
        )
        for subtask in task["subtasks"]:
            assert subtask.keys() == SUBTASK and subtask["alignment"].keys() == {"buffered", "processed", "persisted", "duration"}
            assert details["trigger_timestamp"] <= subtask["ack_timestamp"] <= details["latest_ack_timestamp"]
            assert not subtask["unaligned_checkpoint"]
    assert asked.reply("GET", "/checkpoints/details/1/subtasks/none").status == 404
    asked.job.fail()
    asked.job.settle()
    restored = asked.get("/checkpoints")["latest"]["restored"]
    assert (restored["id"], restored["external_path"]) == (1, str(asked.job.directory / "chk-1"))
    assert asked.reply("GET", "/checkpoints/details/77").status == 404


def test_failures_are_told(asked: Asked) -> None:
    assert asked.get("/exceptions") == {"exceptionHistory": {"entries": [], "truncated": False}}
    asked.job.fail("the first")
    for n in range(20):
        asked.job.fail(f"number {n}")
    history = asked.get("/exceptions")["exceptionHistory"]
    assert len(history["entries"]) == 16 and history["truncated"]
    assert "number 19" in history["entries"][0]["stacktrace"] and history["entries"][0]["exceptionName"] == "InjectedFailure"


def test_a_savepoint_that_fails_says_why(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    failed = asked.operation("/savepoints", {"target-directory": str(tmp_path / "file")})
    assert failed.keys() == {"failure-cause"} and "no savepoint can be written to" in failed["failure-cause"]["stack-trace"]
    assert asked.job.status is JobStatus.RUNNING


@pytest.mark.parametrize(("path", "body"), [("/stop", {"drain": True}), ("/stop", {}), ("/savepoints", {"cancel-job": True})])
def test_stop(asked: Asked, path: str, body: dict[str, Any]) -> None:
    location = asked.operation(path, body)["location"]
    assert Path(location, "_metadata").exists()
    assert asked.get()["state"] == "FINISHED" and asked.get()["end-time"] >= 0
    assert asked.get()["status-counts"]["FINISHED"] == len(asked.job.master.plan.graph.subtasks)
    late = asked.reply("POST", "/savepoints", {}).body["request-id"]
    assert "FINISHED" in asked.get(f"/savepoints/{late}")["operation"]["failure-cause"]["stack-trace"]


def test_cancel(asked: Asked) -> None:
    assert asked.reply("PATCH", mode="cancel") == Reply(202)
    asked.job.until(lambda: asked.job.master.result.done(), "end")
    assert asked.get("/status") == {"status": "CANCELED"}


def test_an_operation_asked_for_twice_is_begun_once(asked: Asked, tmp_path: Path) -> None:
    body = {"triggerId": "0" * 32}
    for _ in range(2):
        assert asked.reply("POST", "/savepoints", body).body == {"request-id": "0" * 32}
    asked.job.settle()
    assert asked.get(f"/savepoints/{'0' * 32}")["status"]["id"] == "COMPLETED"
    assert len(list((tmp_path / "savepoints").iterdir())) == 1


def test_rescaling(asked: Asked) -> None:
    asked.numbers.push_all([(f"key {n}", n) for n in range(100)])
    asked.job.settle()
    before = {v["name"]: v["parallelism"] for v in asked.get()["vertices"]}
    trigger = asked.reply("PATCH", "/rescaling", parallelism="2").body["request-id"]
    assert asked.get(f"/rescaling/{trigger}")["status"] == {"id": "IN_PROGRESS"}
    asked.job.until(lambda: asked.get(f"/rescaling/{trigger}")["status"]["id"] == "COMPLETED", "be rescaled")
    done = asked.get(f"/rescaling/{trigger}")["operation"]
    assert done["checkpointId"] == asked.get("/checkpoints")["latest"]["restored"]["id"] == 1
    after = {v["name"]: v["parallelism"] for v in asked.get()["vertices"]}
    assert {v["name"]: (v["before"], v["parallelism"]) for v in done["vertices"]} == {name: (1, p) for name, p in after.items()}
    assert set(before.values()) == {1} and sorted(after.values()) == [1, 2, 2], "the sink, which the program fixes, has left its chain"
    late = asked.reply("PATCH", "/rescaling", parallelism="40000").body["request-id"]
    assert "maximum parallelism is 128" in asked.get(f"/rescaling/{late}")["operation"]["failure-cause"]["stack-trace"]
    assert asked.get("/exceptions")["exceptionHistory"]["entries"] == []


def test_resource_requirements(asked: Asked) -> None:
    vertices = {v["id"]: v["parallelism"] for v in asked.get()["vertices"]}
    assert asked.get("/resource-requirements") == {i: {"parallelism": {"lowerBound": 1, "upperBound": p}} for i, p in vertices.items()}
    wanted = {i: {"parallelism": {"lowerBound": 1, "upperBound": 2}} for i in vertices}
    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(asked.reply, "PUT", "/resource-requirements", wanted)
        while not reply.done():
            asked.job.settle()
    assert reply.result() == Reply(200)
    asked.job.until(lambda: asked.job.master.rescaling.completed == 1, "be rescaled")
    assert asked.get("/resource-requirements") == wanted
    assert {v["id"]: v["parallelism"] for v in asked.get()["vertices"]} == dict.fromkeys(vertices, 2)
    one, *_ = vertices
    for wrong in (
        {},
        {one: wanted[one]},
        wanted | {"x": wanted[one]},
        wanted | {one: {"parallelism": {"lowerBound": 3, "upperBound": 2}}},
        wanted | {one: {"parallelism": {"lowerBound": 0, "upperBound": 2}}},
        wanted | {one: {"parallelism": {"lowerBound": 1, "upperBound": 129}}},
        wanted | {one: {"parallelism": 2}},
        wanted | {one: 2},
    ):
        refused = asked.reply("PUT", "/resource-requirements", wrong)
        assert refused.status == 400 and len(refused.body["errors"]) == 1
    assert asked.get("/resource-requirements") == wanted and asked.job.restarts == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "query", "status"),
    [
        ("GET", "/nothing", {}, {}, 404),
        ("DELETE", "", {}, {}, 405),
        ("GET", "/stop", {}, {}, 405),
        ("GET", f"/savepoints/{'1' * 32}", {}, {}, 404),
        ("PATCH", "", {}, {"mode": "stop"}, 400),
        ("POST", "/savepoints", {"target-directory": 7}, {}, 400),
        ("POST", "/savepoints", {"formatType": "NATIVE"}, {}, 400),
        ("POST", "/savepoints", {"triggerId": "../../x"}, {}, 400),
        ("POST", "/stop", {"drain": "yes"}, {}, 400),
        ("POST", "/checkpoints", {"checkpointType": "FULL"}, {}, 400),
        ("PATCH", "/rescaling", {}, {}, 400),
        ("PATCH", "/rescaling", {}, {"parallelism": "0"}, 400),
        ("PATCH", "/rescaling", {}, {"parallelism": "two"}, 400),
        ("GET", f"/rescaling/{'1' * 32}", {}, {}, 404),
    ],
)
def test_wrong_requests_are_refused(
    asked: Asked, method: str, path: str, body: dict[str, Any], query: dict[str, str], status: int
) -> None:
    reply = asked.reply(method, path, body, **query)
    assert reply.status == status and len(reply.body["errors"]) == 1
    assert asked.job.status is JobStatus.RUNNING


def test_another_job_is_not_found(asked: Asked) -> None:
    assert asked.routes.answer(Request("GET", f"/jobs/{'0' * 32}")) == Reply(404, {"errors": [f"Job {'0' * 32} not found"]})


# Over HTTP.


@contextmanager
def endpoint(asked: Asked, directory: Path, **settings: str) -> Iterator[JobEndpoint]:
    config = Configuration.from_dict({"wiesel.registry.dir": str(directory / "registry"), **settings})
    opened = JobEndpoint(asked.job.master, at_once, config)
    opened.announce()
    try:
        yield opened
    finally:
        opened.close()


def request(opened: JobEndpoint, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, Any]]:
    url = urlsplit(opened.address)
    connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_only_who_has_the_token_is_answered(asked: Asked, tmp_path: Path) -> None:
    with endpoint(asked, tmp_path) as opened:
        assert urlsplit(opened.address).hostname == "127.0.0.1"
        for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {opened.token}x"}, {"Authorization": opened.token}):
            for method, path in (("GET", "/jobs"), ("PATCH", f"{asked.path}?mode=cancel"), ("POST", f"{asked.path}/stop")):
                assert request(opened, method, path, **headers)[0] == 401
        assert asked.job.status is JobStatus.RUNNING
        right = {"Authorization": f"Bearer {opened.token}"}
        assert request(opened, "GET", "/jobs", **right) == (200, {"jobs": [{"id": asked.job.master.job_id, "status": "RUNNING"}]})


def test_bodies_that_are_no_requests(asked: Asked, tmp_path: Path) -> None:
    with endpoint(asked, tmp_path) as opened:
        right = {"Authorization": f"Bearer {opened.token}"}
        for body, status in ((b"{", 400), (b"[1]", 400), (b"\xff\xfe", 400), (b" " * (1 << 20), 200)):
            assert request(opened, "GET", "/jobs", body, **right)[0] == status
        assert request(opened, "GET", "/jobs", **right, **{"Content-Length": "9999999"})[0] == 413
        assert request(opened, "GET", "/jobs", **right, **{"Content-Length": "-1"})[0] == 413


def test_a_port_that_is_taken_is_told(asked: Asked, tmp_path: Path) -> None:
    with endpoint(asked, tmp_path) as opened:
        port = str(urlsplit(opened.address).port)
        config = Configuration.from_dict({"wiesel.rest.port": port})
        with pytest.raises(ConfigurationError, match=f"cannot listen at 127.0.0.1:{port}"):
            JobEndpoint(asked.job.master, at_once, config)


def test_whoever_waits_for_a_savepoint_is_told_before_the_endpoint_ends(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wiesel.engine.endpoint._UNTOLD_S", 60.0)  # a busy machine may take longer than the endpoint waits
    with endpoint(asked, tmp_path) as opened:
        right = {"Authorization": f"Bearer {opened.token}"}
        trigger = request(opened, "POST", f"{asked.path}/stop", **right)[1]["request-id"]
        asked.job.until(asked.job.master.result.done, "end")
    status, answer = request(opened, "GET", f"{asked.path}/savepoints/{trigger}", **right)
    assert status == 200 and Path(answer["operation"]["location"]).exists()
    for thread in threading.enumerate():
        if thread.name == "wiesel-rest-end":
            thread.join(60)
    with pytest.raises(ConnectionRefusedError):
        request(opened, "GET", "/jobs", **right)
    assert running_jobs(tmp_path / "registry") == []


def test_the_endpoint_ends_behind_its_last_answer(asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiesel.engine.endpoint._UNTOLD_S", 60.0)
    steps = []
    send, close = server._Handler._send, server.RestServer.server_close

    def slowly(handler: Any, reply: Reply) -> None:
        time.sleep(0.5)
        send(handler, reply)
        steps.append("answered")

    def noted(opened: Any) -> None:
        steps.append("closed")
        close(opened)

    with endpoint(asked, tmp_path) as opened:
        right = {"Authorization": f"Bearer {opened.token}"}
        trigger = request(opened, "POST", f"{asked.path}/stop", **right)[1]["request-id"]
        asked.job.until(asked.job.master.result.done, "end")
    monkeypatch.setattr(server._Handler, "_send", slowly)
    monkeypatch.setattr(server.RestServer, "server_close", noted)
    assert request(opened, "GET", f"{asked.path}/savepoints/{trigger}", **right)[0] == 200
    for thread in threading.enumerate():
        if thread.name == "wiesel-rest-end":
            thread.join(60)
    assert steps == ["answered", "closed"]


# The registry.

ENTRY = JobEntry("0" * 32, "sums", os.getpid(), 1, "http://127.0.0.1:1", "secret")


def test_the_file_of_a_job_is_for_its_user_alone(tmp_path: Path) -> None:
    directory = tmp_path / "below" / "registry"
    unregister = register(ENTRY, directory)
    assert running_jobs(directory) == [ENTRY]
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert [stat.S_IMODE(p.stat().st_mode) for p in directory.iterdir()] == [0o600]
    unregister()
    assert list(directory.iterdir()) == []


def test_a_directory_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(ConfigurationError, match="others may write to"):
        register(ENTRY, tmp_path)


def test_jobs_of_processes_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    register(replace(ENTRY, job_id="1" * 32, pid=int(ended.stdout)), tmp_path)
    register(ENTRY, tmp_path)
    (tmp_path / "torn.json").write_text("{")
    assert running_jobs(tmp_path) == [ENTRY]
    assert not (tmp_path / f"{'1' * 32}.json").exists()


def test_who_goes_on_with_a_job_under_its_id_stays_known(tmp_path: Path) -> None:
    unregister = register(ENTRY, tmp_path)
    successor = replace(ENTRY, token="another")
    register(successor, tmp_path)
    unregister()
    assert running_jobs(tmp_path) == [successor]
