"""How many slots a master can have, and waiting until enough of them are free."""

from __future__ import annotations

import logging
import threading

import pytest

from wiesel.core.errors import JobCancelledError, NoResourceAvailableError, ResourceError
from wiesel.engine.spark.session import _check_slots
from wiesel.engine.spark.slots import SlotRequest, in_this_process, local_cluster, most_slots


@pytest.mark.parametrize(
    ("master", "most"),
    [
        ("local", 1),
        ("local[7]", 7),
        ("local[7,3]", 7),
        ("local[*]", None),
        ("local-cluster[2,8,512]", 16),
        ("local-cluster[ 3 , 4 , 1024 ]", 12),
        ("spark://host:7077", None),
        ("yarn", None),
        ("k8s://https://host:6443", None),
    ],
)
def test_most_slots(master: str, most: int | None) -> None:
    assert most_slots(master) == most


def test_only_local_masters_run_tasks_beside_the_driver() -> None:
    assert all(map(in_this_process, ["local", "local[*]", "local[4]", "local[4,1]"]))
    assert not any(map(in_this_process, ["local-cluster[2,2,512]", "yarn", "spark://local:7077"]))
    assert local_cluster("local-cluster[2,3,512]") == (2, 3, 512)
    assert local_cluster("local[2]") is None


def test_free_slots_need_no_waiting() -> None:
    looks = iter([4])
    SlotRequest(lambda: next(looks), 0, "master").wait(4)


def test_waits_until_slots_are_free() -> None:
    free = iter([0, 0, 3, 4])
    SlotRequest(lambda: next(free), 60, "master").wait(4)
    assert next(free, None) is None


def test_gives_up_when_the_time_is_over() -> None:
    request = SlotRequest(lambda: 3, 0.3, "spark://host:7077")
    with pytest.raises(NoResourceAvailableError, match=r"needs 4 slots .*, spark://host:7077 had 3 free after \d+ s") as raised:
        request.wait(4)
    assert raised.value.hint is not None and "slot.request.timeout" in raised.value.hint


def test_numbers_that_spark_has_just_contradicted_are_not_believed_at_once() -> None:
    looks = iter([4, 4])
    SlotRequest(lambda: next(looks), 60, "master").wait(4, refused=True)
    assert next(looks, None) is None
    with pytest.raises(NoResourceAvailableError):
        SlotRequest(lambda: 4, 0, "master").wait(4, refused=True)


def test_a_cancelled_request_stops_waiting() -> None:
    request = SlotRequest(lambda: 0, 60, "master")
    threading.Timer(0.05, request.cancel).start()
    with pytest.raises(JobCancelledError):
        request.wait(1)


def test_long_waiting_is_told_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiesel.engine.spark.slots._TELL_AFTER_S", 0.0)
    free = iter([0, 0, 0, 1])
    with caplog.at_level(logging.WARNING, "wiesel.spark"):
        SlotRequest(lambda: next(free), 60, "master").wait(1)
    assert [r.getMessage() for r in caplog.records] == [
        "the job needs 1 slots at the same time, master has 0 free: waiting up to 60 s (slot.request.timeout)"
    ]


def test_a_master_that_is_too_small_is_refused_by_name() -> None:
    _check_slots("local-cluster[2,2,640]", 4)
    with pytest.raises(ResourceError, match=r"needs 5 slots at the same time, local-cluster\[2,2,640\] has 4"):
        _check_slots("local-cluster[2,2,640]", 5)
