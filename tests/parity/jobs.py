"""What the tests of jobs with connectors share: settings per engine, and a failure in the middle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.parity.conftest import SPARK_MASTER
from wiesel.common import Configuration
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import RateLimiter, RateLimiterStrategy

# The first job on Spark waits for the session; a busy machine makes everything slow.
SECONDS = 300


def environment(
    engine: str, checkpoints: Path | None = None, parallelism: int = 2, mode: str = "STREAMING", **options: str
) -> StreamExecutionEnvironment:
    """Return an environment; with ``checkpoints`` every 50 ms, and restarts after failures."""
    settings = {"wiesel.engine": engine, "wiesel.spark.master": SPARK_MASTER, "restart-strategy.type": "none"}
    if checkpoints is not None:
        settings |= {
            "execution.checkpointing.dir": str(checkpoints),
            "execution.checkpointing.interval": "50 ms",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "5",
            "restart-strategy.fixed-delay.delay": "10 ms",
        }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings | options))
    env.set_runtime_mode(RuntimeExecutionMode[mode])
    env.set_parallelism(parallelism)
    return env


class WaitsForACheckpoint(RateLimiterStrategy):
    """So many records per second, and no more than the first ones until there is a checkpoint, however long that takes."""

    def __init__(self, per_s: int, first: int, checkpoints: Path) -> None:
        self.per_s, self.first, self.checkpoints = per_s, first, str(checkpoints)

    def create_rate_limiter(self, parallelism: int, subtask_index: int = 0) -> RateLimiter:
        return _Waiting(self.per_s / parallelism, self.first // parallelism, Path(self.checkpoints))


class _Waiting(RateLimiter):
    def __init__(self, per_s: float, first: int, checkpoints: Path) -> None:
        self.per_s, self.first, self.checkpoints = per_s, first, checkpoints
        self.given, self.since_ms = 0, -1

    def permits(self, now_ms: int, wanted: int) -> int:
        if self.since_ms < 0:
            self.since_ms = now_ms
        due = int((now_ms - self.since_ms) * self.per_s / 1000)
        if due > self.first and not any(self.checkpoints.glob("*/chk-*/_metadata")):
            due = self.first
        permitted = max(0, min(wanted, due - self.given))
        self.given += permitted
        return permitted


class FailOnce:
    """A map that fails at a value, once: then the marker file exists."""

    def __init__(self, marker: Path, at: Callable[[Any], bool]) -> None:
        self.marker = str(marker)
        self.at = at

    def __call__(self, value: Any) -> Any:
        if self.at(value) and not Path(self.marker).exists():
            Path(self.marker).touch()
            raise RuntimeError("the failure in the middle")
        return value


def execute(env: StreamExecutionEnvironment, name: str) -> dict[str, Any]:
    """Run the job to its end; return its metrics."""
    client = env.execute_async(name)
    client.get_job_execution_result().result()
    return client.get_job_metrics().result()


def visible_lines(folder: Path) -> list[str]:
    """Return the lines of all files that are not hidden, nor in hidden folders."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not any(n.startswith((".", "_")) for n in p.relative_to(folder).parts))
    return [line for p in files for line in p.read_text().splitlines()]


def hidden_files(folder: Path) -> list[Path]:
    """Return the files that are hidden, or in hidden folders."""
    return [p for p in folder.rglob("*") if p.is_file() and any(n.startswith(".") for n in p.relative_to(folder).parts)]
