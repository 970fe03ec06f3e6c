"""A job at a steady rate: what it takes of the machine is sampled, and the end is compared with the beginning."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass, fields
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from tests.faults.counting_job import HELD_BACK
from tests.faults.driver_process import Driver, all_run, must_be_exact

MB = 1 << 20
GROWTH = 1.15
"""How many times its value of the second quarter something may have in the last one."""

SLACK = {"rss_mb": 48.0, "heap_mb": 24.0, "fds": 8.0, "threads": 8.0, "checkpoints_mb": 1.0, "checkpoint_files": 12.0, "local_mb": 8.0}
"""What it may grow by besides."""

_SPARE_S = 60
"""The source has records for so much longer, so that it never runs dry while it is measured."""


@dataclass
class Sample:
    """What the driver, its JVM and its workers take together."""

    rss_mb: float
    heap_mb: float
    fds: float
    threads: float
    checkpoints_mb: float
    checkpoint_files: float
    local_mb: float


def run(console: Console, directory: Path, seconds: float, rate: float, every_s: float) -> None:
    """Run the job and compare.

    Raises:
        AssertionError: something grew, or the output was wrong.
    """
    records = math.ceil(rate * (seconds + _SPARE_S) / (1 - HELD_BACK))
    driver = Driver(
        directory, "--records", str(records), "--rate", str(rate), "--interval", "1000", "--heap", "--local", str(directory / "local")
    )
    samples: list[Sample] = []
    try:
        driver.wait_for(all_run, "the running job")
        started_s = time.monotonic()
        while time.monotonic() - started_s < seconds:
            taken_s = time.monotonic()
            look = driver.wait_for(lambda look: time.monotonic() - taken_s >= every_s, "the job after a while")  # noqa: B023
            assert look["attempt"] == 1 and look["status"] == "RUNNING", look
            samples.append(sample(driver, directory, look["heap_bytes"]))
        driver.release()
        assert driver.wait_for_end() == 0, driver.tail()
        driver.family_must_vanish()
    finally:
        driver.end()
    console.print(table(samples))
    grown = growth(samples)
    assert not grown, "; ".join(grown)
    must_be_exact(directory, records)


def sample(driver: Driver, directory: Path, heap_bytes: int) -> Sample:
    rss = fds = threads = 0
    for process in driver.family():
        try:
            # Shared pages of forked workers count once each: growth is what matters.
            rss += process.memory_info().rss
            fds += process.num_fds()
            threads += process.num_threads()
        except psutil.NoSuchProcess:
            continue
    checkpoint_bytes, checkpoint_files = usage(directory / "checkpoints")
    return Sample(rss / MB, heap_bytes / MB, fds, threads, checkpoint_bytes / MB, checkpoint_files, usage(directory / "local")[0] / MB)


def usage(directory: Path) -> tuple[int, int]:
    """Return bytes and number of the files below."""
    total = count = 0
    for path in directory.rglob("*"):
        try:
            if path.is_file():
                total += path.stat().st_size
                count += 1
        except FileNotFoundError:
            continue  # deleted meanwhile
    return total, count


def quarters(samples: list[Sample], name: str) -> list[float]:
    """Return the medians of the four quarters."""
    values = [getattr(s, name) for s in samples]
    cut = max(1, len(values) // 4)
    return [statistics.median(values[i * cut : (i + 1) * cut] or values[-1:]) for i in range(4)]


def growth(samples: list[Sample]) -> list[str]:
    """Return what has grown from the second quarter to the last; the first one is for warming up."""
    grown = []
    for field in fields(Sample):
        _, before, _, after = quarters(samples, field.name)
        if after > before * GROWTH + SLACK[field.name]:
            grown.append(f"{field.name} grew from {before:.1f} to {after:.1f}")
    return grown


def table(samples: list[Sample]) -> Table:
    shown = Table(title=f"{len(samples)} samples, medians of the quarters")
    shown.add_column("what")
    for column in ("first", "second", "third", "last", "highest"):
        shown.add_column(column, justify="right")
    for field in fields(Sample):
        highest = max(getattr(s, field.name) for s in samples)
        shown.add_row(field.name, *(f"{v:.1f}" for v in (*quarters(samples, field.name), highest)))
    return shown
