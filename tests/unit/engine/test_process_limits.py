"""A job that this machine's limits do not allow is refused with the numbers, before any of its processes starts."""

from __future__ import annotations

import logging
import resource
from pathlib import Path

import pytest

from wiesel.core.errors import ResourceError
from wiesel.engine.spark.process_limits import Footprint, Limits, check_limits

JOB = Footprint(tasks=168, channels=1280)
NONE = Limits(files=None, files_of_jvm=None, threads={}, memory_mb=None)


def limits(**given: object) -> Limits:
    return Limits(**{**vars(NONE), **given})  # type: ignore[arg-type]


def test_what_fits_is_allowed(caplog: pytest.LogCaptureFixture) -> None:
    check_limits(JOB, NONE)
    check_limits(
        JOB,
        Limits(JOB.files_of_driver, JOB.files_of_jvm, {"RLIMIT_NPROC": (JOB.threads + 100, 100)}, JOB.memory_mb),
    )
    assert not caplog.records


@pytest.mark.parametrize(("whose", "limit"), [("Spark's JVM", {"files_of_jvm": 1024}), ("the driver", {"files": 100})])
def test_too_few_open_files_are_named(whose: str, limit: dict[str, int]) -> None:
    with pytest.raises(ResourceError, match=r"168 tasks of the job, with 1,280 connections between them, need about .* open files") as told:
        check_limits(JOB, limits(**limit))
    assert f"in {whose}; the limit is {next(iter(limit.values())):,} (RLIMIT_NOFILE)" in str(told.value)
    needed = JOB.files_of_jvm if "files_of_jvm" in limit else JOB.files_of_driver
    assert f"need about {needed:,} " in str(told.value)
    recommended = int(str(told.value).partition("ulimit -n ")[2].partition(")")[0])
    check_limits(JOB, limits(files=recommended, files_of_jvm=recommended))


def test_too_few_threads_are_named() -> None:
    with pytest.raises(ResourceError, match=r"need about 2,106 processes and threads; the limit is 2,122, of which 17 are in use \(pids\)"):
        check_limits(JOB, limits(threads={"RLIMIT_NPROC": (9_999, 1), "pids": (2_122, 17)}))
    check_limits(JOB, limits(threads={"pids": (2_123, 17)}))


def test_too_little_memory_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check_limits(JOB, limits(memory_mb=1_000))
    assert f"168 tasks of the job need about {JOB.memory_mb} MB of memory, 1000 MB are available" in caplog.text


def machine(root: Path, group: str) -> tuple[Path, Path]:
    proc, groups = root / "proc", root / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "sys/kernel").mkdir(parents=True)
    (proc / "self/cgroup").write_text(group)
    (proc / "sys/kernel/threads-max").write_text("5000\n")
    (proc / "loadavg").write_text("0.1 0.2 0.3 2/345 678\n")
    (proc / "meminfo").write_text("MemTotal: 8192000 kB\nMemAvailable: 4096000 kB\n")
    return proc, groups


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)


def test_limits_of_control_groups_are_read_also_of_those_around_one(tmp_path: Path) -> None:
    proc, groups = machine(tmp_path, "0::/jobs/mine\n")
    write(groups / "jobs/mine", pids_max="max\n", pids_current="12\n", memory_max="max\n", memory_current=f"{1 << 30}\n")
    write(groups / "jobs", pids_max="400\n", pids_current="20\n", memory_max=f"{2 << 30}\n", memory_current=f"{1 << 30}\n")
    (groups / "jobs/memory.stat").write_text(f"anon 5\nactive_file {100 << 20}\ninactive_file {28 << 20}\n")
    found = Limits.of_this_machine(proc, groups)
    assert found.threads[str(groups / "jobs/pids.max")] == (400, 20)
    assert found.threads[str(proc / "sys/kernel/threads-max")] == (5000, 345)
    assert str(groups / "jobs/mine/pids.max") not in found.threads
    assert found.memory_mb == 1024 + 128


def test_limits_of_control_groups_of_the_first_version_are_read(tmp_path: Path) -> None:
    proc, groups = machine(tmp_path, "8:pids:/mine\n4:memory:/mine\n1:cpu,cpuacct:/\n0::/\n")
    write(groups / "pids/mine", pids_max="77\n", pids_current="7\n")
    folder = groups / "memory/mine"
    folder.mkdir(parents=True)
    (folder / "memory.limit_in_bytes").write_text(str(512 << 20))
    (folder / "memory.usage_in_bytes").write_text(str(500 << 20))
    found = Limits.of_this_machine(proc, groups)
    assert found.threads[str(groups / "pids/mine/pids.max")] == (77, 7)
    assert found.memory_mb == 12


def test_open_files_are_those_of_this_process() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = Limits.of_this_machine()
    assert (found.files, found.files_of_jvm) == tuple(None if n == resource.RLIM_INFINITY else n for n in (soft, hard))
    assert found.memory_mb is not None and found.memory_mb > 0
