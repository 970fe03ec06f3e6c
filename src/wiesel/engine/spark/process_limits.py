"""Internal. Checks before the start that the limits of the machine allow the processes, threads and open files of a job.

Otherwise a job that is too large fails during its start, with a message of whichever process reaches a limit.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wiesel.core.errors import ResourceError
from wiesel.core.logs import get_logger

__all__ = ["Footprint", "Limits", "check_limits"]

_PROC = Path("/proc")
_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_HINT = "lower the parallelism, or chain more operators"
_log = get_logger("wiesel.spark")


@dataclass(frozen=True)
class Footprint:
    """Minimal resources of a job, as measured (docs/design/0012-footprint.md).

    Attributes:
        tasks: Number of concurrent tasks, each in a separate process.
        channels: Connections between them.
    """

    tasks: int
    channels: int

    @property
    def files_of_jvm(self) -> int:
        """Return the open files of Spark's JVM: both ends of each connection, and those of tasks and the JVM itself."""
        return 340 + 8 * self.tasks + 2 * self.channels

    @property
    def files_of_driver(self) -> int:
        """Return the open files of this process, one for each task and its own."""
        return 20 + self.tasks

    @property
    def threads(self) -> int:
        """Return the threads of all processes: those of the JVM, of the workers and of this process."""
        return 90 + 12 * self.tasks

    @property
    def memory_mb(self) -> int:
        """Return the memory of all processes in MB, with shared pages counted once."""
        return 450 + 12 * self.tasks


@dataclass(frozen=True)
class Limits:
    """Remaining limits of this process and its children; None for unlimited.

    Attributes:
        files: Open files of this process.
        files_of_jvm: Open files of a JVM, which raises its limit to the hard limit.
        threads: By the name of each limit: the limit and the number of threads in use.
        memory_mb: Available memory.
    """

    files: int | None
    files_of_jvm: int | None
    threads: dict[str, tuple[int, int]]
    memory_mb: int | None

    @classmethod
    def of_this_machine(cls, proc: Path = _PROC, control_groups: Path = _CONTROL_GROUPS) -> Limits:
        """Read the limits that are in force."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        threads = dict(_thread_limits(proc, control_groups))
        return cls(_finite(soft), _finite(hard), threads, min(_available_memory_mb(proc, control_groups), default=None))


def check_limits(job: Footprint, limits: Limits) -> None:
    """Check that a job is within the limits.

    Raises:
        ResourceError: If it would need more open files or threads than allowed.
    """
    for whose, needed, limit in (("Spark's JVM", job.files_of_jvm, limits.files_of_jvm), ("the driver", job.files_of_driver, limits.files)):
        if limit is not None and needed > limit:
            raise ResourceError(
                f"the {job.tasks:,} tasks of the job, with {job.channels:,} connections between them, need about {needed:,} open files "
                f"in {whose}; the limit is {limit:,} (RLIMIT_NOFILE)",
                hint=f"raise the limit (ulimit -n {_rounded_up(job.files_of_jvm)}), {_HINT}",
            )
    for name, (most, used) in limits.threads.items():
        if job.threads > most - used:
            raise ResourceError(
                f"the {job.tasks:,} tasks of the job need about {job.threads:,} processes and threads; the limit is {most:,}, "
                f"of which {used:,} are in use ({name})",
                hint=f"raise the limit, {_HINT}",
            )
    if limits.memory_mb is not None and job.memory_mb > limits.memory_mb:
        _log.warning(
            "the %d tasks of the job need about %d MB of memory, %d MB are available: the system may kill some of them; %s",
            job.tasks,
            job.memory_mb,
            limits.memory_mb,
            _HINT,
        )


def _finite(limit: int) -> int | None:
    return None if limit == resource.RLIM_INFINITY else limit


def _rounded_up(files: int) -> int:
    rounded = 1024
    while rounded < files:
        rounded *= 2
    return rounded


def _thread_limits(proc: Path, control_groups: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    limit = _finite(resource.getrlimit(resource.RLIMIT_NPROC)[0])
    if limit is not None and os.geteuid() != 0:  # does not apply to root
        yield "RLIMIT_NPROC", (limit, _threads_of_user(proc))
    for group in _groups(proc, control_groups, "pids"):
        most, used = _number(group / "pids.max"), _number(group / "pids.current")
        if most is not None and used is not None:
            yield str(group / "pids.max"), (most, used)
    most = _number(proc / "sys/kernel/threads-max")
    if most is not None:
        with suppress(OSError, ValueError, IndexError):
            running = (proc / "loadavg").read_text(encoding="ascii").split()[3]
            yield str(proc / "sys/kernel/threads-max"), (most, int(running.partition("/")[2]))


def _threads_of_user(proc: Path) -> int:
    count = 0
    for process in proc.iterdir():
        with suppress(OSError):
            if process.name.isdigit() and process.stat().st_uid == os.getuid():
                count += len(os.listdir(process / "task"))
    return count


def _available_memory_mb(proc: Path, control_groups: Path) -> Iterator[int]:
    with suppress(OSError, ValueError):
        for line in (proc / "meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) >> 10
    for group in _groups(proc, control_groups, "memory"):
        for most, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
            limit, now = _number(group / most), _number(group / used)
            if limit is not None and now is not None:
                # The kernel reclaims the page cache when memory is short.
                yield max(0, limit - now + _file_bytes(group / "memory.stat")) >> 20


def _file_bytes(stat: Path) -> int:
    with suppress(OSError, ValueError):
        entries = dict(line.split() for line in stat.read_text(encoding="ascii").splitlines())
        return int(entries.get("inactive_file", 0)) + int(entries.get("active_file", 0))
    return 0


def _groups(proc: Path, control_groups: Path, controller: str) -> Iterator[Path]:
    """Return the directories of this process's control group and its ancestors, for both versions of control groups."""
    with suppress(OSError):
        for line in (proc / "self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            root = control_groups if not controllers else control_groups / controller
            if controllers and controller not in controllers.split(","):
                continue
            for group in (inside := root / path.lstrip("/"), *inside.parents):
                yield group
                if group == root:
                    break


def _number(file: Path) -> int | None:
    """Return the number in a file; None if there is no such file, or it has no limit."""
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
