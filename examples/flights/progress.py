"""What is shown while the job runs: a panel on a terminal, else a line every two seconds. It is made of ``JobClient.get_job_metrics``."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from examples.flights.data import DAY_MS, FIRST_DAY_MS
from examples.flights.job import Results, local_time
from examples.flights.source import BOUND_MS

_YEAR_DAYS = 365
_LINE_EVERY_S = 2.0
_RATE_OVER_S = 4.0
_MAX_WATERMARK = 2**63 - 1
_MIN_WATERMARK = -(2**63)


@dataclass
class Operator:
    """A task of the job, all its subtasks together."""

    name: str
    subtasks: int = 0
    records: int = 0
    busy: list[float] = field(default_factory=list)
    backpressured: list[float] = field(default_factory=list)


class Reading:
    """The figures of one look at the job."""

    def __init__(self, metrics: dict[str, Any]) -> None:
        started = sum(task["pid"] is not None for task in metrics["tasks"])
        deploying = metrics["status"] == "RUNNING" and started < len(metrics["tasks"])
        self.status: str = f"{started} of {len(metrics['tasks'])} tasks run" if deploying else metrics["status"].lower()
        self.attempt: int = metrics["attempt"]
        self.restarts: int = metrics["restarts"]
        self.checkpoints: dict[str, Any] = metrics["checkpoints"]
        tasks = [(task, task["metrics"]) for task in metrics["tasks"]]
        self.read = sum(_out_of_source(values) for task, values in tasks if task["source"])
        self.written = {name: sum(values.get(f"{name} as JSON.numRecordsOut", 0) for _, values in tasks) for name in Results._fields}
        # How far the readers are, and how far event time has come in the slowest task.
        self.sources_ms = [values.get("currentOutputWatermark") or _MIN_WATERMARK for task, values in tasks if task["source"]]
        reached = [values.get("currentInputWatermark", _MIN_WATERMARK) for task, values in tasks if not task["source"]]
        self.watermark_ms: int = min(reached, default=_MIN_WATERMARK)
        self.operators = _operators(tasks)

    @property
    def event_time(self) -> str:
        if self.watermark_ms == _MIN_WATERMARK:
            return "not begun"
        return "at its end" if self.watermark_ms == _MAX_WATERMARK else local_time(self.watermark_ms)[:16].replace("T", " ")

    @property
    def lag(self) -> str:
        """Return by how much event time is behind the reports that have been read."""
        newest = max((ms for ms in self.sources_ms if ms != _MAX_WATERMARK), default=_MIN_WATERMARK)
        if _MIN_WATERMARK in (newest, self.watermark_ms) or self.watermark_ms == _MAX_WATERMARK:
            return "-"
        return str(timedelta(minutes=max(0, newest + BOUND_MS - self.watermark_ms) // 60_000))[:-3]

    def fraction(self, days: float | None) -> float:
        """Return which part of the replay all readers have read."""
        slowest = min(self.sources_ms, default=_MIN_WATERMARK)
        return min(1.0, max(0.0, (slowest - FIRST_DAY_MS) / ((_YEAR_DAYS if days is None else days) * DAY_MS)))


def _out_of_source(values: dict[str, Any]) -> int:
    return sum(v for name, v in values.items() if name.startswith("Source: ") and name.endswith(".numRecordsOut"))


def _operators(tasks: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[Operator]:
    found: dict[int, Operator] = {}
    for task, values in tasks:
        operator = found.setdefault(task["vertex"], Operator(task["name"].removeprefix("Source: ").partition(" -> ")[0]))
        operator.subtasks += 1
        operator.records += values.get("numRecordsIn", 0) or _out_of_source(values)
        operator.busy.append(values.get("busyTimeMsPerSecond", 0) / 10)
        operator.backpressured.append(values.get("backPressuredTimeMsPerSecond", 0) / 10)
    return list(found.values())


class Progress:
    """Shows the readings of a job.

    Args:
        console: Where to.
        total: Records in all.
        days: Days of the replay; the year if None.
    """

    def __init__(self, console: Console, total: int, days: float | None) -> None:
        self._console = console
        self._total = total
        self._days = days
        self._started_s = time.monotonic()
        self._past: deque[tuple[float, int, int]] = deque()
        self._line_at_s = 0.0
        self._live = Live(console=console, auto_refresh=False, transient=False) if console.is_terminal else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, metrics: dict[str, Any], last: bool = False) -> Reading:
        """Take a look at the job and show it; ``last``: in any case."""
        now_s = time.monotonic()
        reading = Reading(metrics)
        self._past.append((now_s, reading.read, sum(reading.written.values())))
        while now_s - self._past[0][0] > _RATE_OVER_S:
            self._past.popleft()
        if self._live is not None:
            self._live.start()  # not earlier: Spark writes on the terminal when it starts
            self._live.update(self._panel(reading), refresh=True)
        elif last or now_s - self._line_at_s >= _LINE_EVERY_S:
            self._line_at_s = now_s
            self._console.print(self._line(reading), soft_wrap=True, highlight=False)
        return reading

    def _rates(self) -> tuple[float, float]:
        (from_s, read_from, written_from), (to_s, read_to, written_to) = self._past[0], self._past[-1]
        span_s = max(to_s - from_s, 1e-3)
        # Counters begin anew with each attempt.
        return max(0.0, (read_to - read_from) / span_s), max(0.0, (written_to - written_from) / span_s)

    def _line(self, reading: Reading) -> str:
        read_rate, written_rate = self._rates()
        written = sum(reading.written.values())
        return (
            f"{time.monotonic() - self._started_s:5.0f} s  {reading.status:<9}  in {reading.read:>7,} ({read_rate:>7,.0f}/s)  "
            f"out {written:>6,} ({written_rate:>5,.0f}/s)  event time {_event_time(reading)}  "
            f"{_checkpoint(reading)}  restarts {reading.restarts}"
        )

    def _panel(self, reading: Reading) -> RenderableType:
        read_rate, written_rate = self._rates()
        elapsed_s = time.monotonic() - self._started_s
        facts = Table.grid(padding=(0, 2))
        facts.add_column(style="bold")
        facts.add_column()
        status = "green" if reading.status in ("running", "finished") else "yellow"
        facts.add_row("replay", ProgressBar(total=1.0, completed=reading.fraction(self._days), width=60))
        facts.add_row("job", Text(f"{reading.status}, attempt {reading.attempt}, {elapsed_s:.0f} s", style=status))
        facts.add_row("in", f"{reading.read:,} of {self._total:,} records   {read_rate:,.0f}/s")
        written = ", ".join(f"{count:,} {name.replace('_', '-')}" for name, count in reading.written.items())
        facts.add_row("out", f"{written}   {written_rate:,.0f}/s")
        facts.add_row("event time", _event_time(reading))
        facts.add_row("checkpoint", f"{_checkpoint(reading).removeprefix('checkpoint ')}   restarts {reading.restarts}")
        return Group(Text(), facts, self._operator_table(reading))

    def _operator_table(self, reading: Reading) -> Table:
        table = Table(box=None, padding=(0, 2), header_style="dim")
        for heading in ("task", "subtasks", "records", "busy", "backpressured"):
            table.add_column(heading, justify="left" if heading == "task" else "right")
        for o in reading.operators:
            busy, backpressured = (", ".join(f"{v:.0f} %" for v in values) for values in (o.busy, o.backpressured))
            table.add_row(o.name, str(o.subtasks), f"{o.records:,}", busy, backpressured)
        return table


def _event_time(reading: Reading) -> str:
    return reading.event_time if reading.lag == "-" else f"{reading.event_time}, {reading.lag} behind the reports"


def _checkpoint(reading: Reading) -> str:
    c = reading.checkpoints
    if not c["last_id"]:
        return "checkpoint -"
    duration = "restored" if c["last_duration_ms"] is None else f"{c['last_duration_ms']} ms"
    return f"checkpoint {c['last_id']} ({duration}, {c['last_written_bytes'] / 1e3:,.0f} of {c['last_state_bytes'] / 1e3:,.0f} kB)"
