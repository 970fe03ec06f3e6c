"""How long savepoints and stops take behind slow functions: each cell is a job on Spark whose last function sleeps for every record.

    python tests/soak/savepoints.py                                  all 48 cells, about half an hour
    python tests/soak/savepoints.py --ms 10 --exchanges 3            some of them; also --bytes and --parallelism

Prints a table with the seconds of ``wiesel savepoint trigger`` and ``wiesel stop``, with the start of the client and the end of the job.
The exit code is 1 if one took more than ten seconds, or failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.table import Table

LIMIT_S = 10.0
MILLISECONDS, BYTES, PARALLELISM, EXCHANGES = (0.2, 1.0, 10.0, 100.0), (8, 10_000, 1 << 20), (1, 4), (1, 3)
WARM_S = 10.0
"""How long records flow before the savepoint: limits have found their values by then."""

START_S, GIVE_UP_S = 180.0, 120.0
_CLIENT = "import sys; sys.argv[0] = 'wiesel'; from wiesel.platform.cli import main; main()"


@dataclass(frozen=True)
class Cell:
    """A job: what its last function takes per record, how large records are, its subtasks, and its exchanges by key."""

    ms: float
    bytes: int
    parallelism: int
    exchanges: int


@dataclass(frozen=True)
class Taken:
    """Seconds of both commands; None for one that failed, with what it printed."""

    savepoint_s: float | None
    stop_s: float | None
    output: str

    @property
    def good(self) -> bool:
        """Return whether both were quick enough."""
        return all(s is not None and s <= LIMIT_S for s in (self.savepoint_s, self.stop_s))


def all_cells() -> list[Cell]:
    """Return the whole matrix."""
    return [Cell(*values) for values in product(MILLISECONDS, BYTES, PARALLELISM, EXCHANGES)]


def run_job(cell: Cell, touched: Path) -> None:
    """Run the job of a cell until it is stopped. Its first slow record touches a file."""
    from wiesel.common import Configuration, Types, WatermarkStrategy
    from wiesel.datastream import StreamExecutionEnvironment
    from wiesel.datastream.connectors.number_seq import NumberSequenceSource

    slots = cell.parallelism * (cell.exchanges + 1) + 4
    settings = {"wiesel.spark.master": f"local[{slots}]", "execution.checkpointing.savepoint-dir": str(touched.parent / "savepoints")}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(cell.parallelism)
    record = Types.TUPLE([Types.LONG(), Types.PRIMITIVE_ARRAY(Types.BYTE())])
    size, seconds, file = max(0, cell.bytes - 8), cell.ms / 1e3, str(touched)

    def slowly(value: tuple[int, bytes]) -> tuple[int, bytes]:
        if not os.path.exists(file):
            Path(file).touch()
        time.sleep(seconds)
        return value

    numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "numbers", type_info=Types.LONG())
    stream = numbers.map(lambda n: (n, bytes(size)), record)
    for exchange in range(cell.exchanges):
        prime = (101, 103, 107)[exchange]
        stream = stream.key_by(lambda pair, prime=prime: pair[0] % prime, Types.LONG())
        stream = stream.map(slowly if exchange == cell.exchanges - 1 else lambda pair: pair, record)
    stream.filter(lambda pair: False).print()
    env.execute("cell")


def _command(registry: Path, *arguments: str) -> tuple[float | None, str]:
    began_s = time.monotonic()
    environment = {**os.environ, "WIESEL_REGISTRY_DIR": str(registry)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CLIENT, *arguments], env=environment, capture_output=True, text=True, timeout=GIVE_UP_S, check=False
        )
    except subprocess.TimeoutExpired as late:
        return None, f"no answer after {GIVE_UP_S:.0f} s: {late.stderr!r}"
    return (time.monotonic() - began_s if done.returncode == 0 else None), done.stderr


def measure(cell: Cell, directory: Path) -> Taken:
    """Start the job of a cell, let it warm up, take a savepoint and stop it."""
    touched, registry, log = directory / "touched", directory / "registry", directory / "log"
    given = json.dumps([cell.ms, cell.bytes, cell.parallelism, cell.exchanges])
    with log.open("wb") as output:
        job = subprocess.Popen(
            [sys.executable, __file__, "--job", given, str(touched)],
            env={**os.environ, "WIESEL_REGISTRY_DIR": str(registry)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline_s = time.monotonic() + START_S
        while not touched.exists():
            if job.poll() is not None or time.monotonic() > deadline_s:
                return Taken(None, None, f"the job has not started: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)
        time.sleep(WARM_S)
        savepoint_s, told = _command(registry, "savepoint", "trigger", "cell")
        stop_s, told_then = _command(registry, "stop", "cell")
        return Taken(savepoint_s, stop_s, told + told_then)
    finally:
        if job.poll() is None and not _ends(job):
            job.kill()
        job.wait()


def _ends(job: subprocess.Popen[bytes]) -> bool:
    try:
        job.wait(30)
    except subprocess.TimeoutExpired:
        return False
    return True


def run(console: Console, directory: Path, wanted: list[Cell]) -> bool:
    """Measure cells one after the other, print their table, and return whether all were quick enough."""
    table = Table("ms per record", "bytes", "parallelism", "exchanges", "savepoint", "stop", title="seconds of the commands")
    good = True
    for number, cell in enumerate(wanted):
        place = directory / str(number)
        place.mkdir(parents=True)
        taken = measure(cell, place)
        shown = ["failed" if s is None else f"{s:.1f}" for s in (taken.savepoint_s, taken.stop_s)]
        table.add_row(f"{cell.ms:g}", str(cell.bytes), str(cell.parallelism), str(cell.exchanges), *shown)
        console.print(f"{cell}: savepoint {shown[0]}, stop {shown[1]}", highlight=False)
        if not taken.good:
            good = False
            console.print(taken.output, highlight=False, markup=False)
    console.print(table)
    return good


def main(arguments: list[str] | None = None) -> int:
    """Measure what the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description="Savepoints behind slow functions.")
    parser.add_argument("--ms", type=float, nargs="*", default=MILLISECONDS)
    parser.add_argument("--bytes", type=int, nargs="*", default=BYTES)
    parser.add_argument("--parallelism", type=int, nargs="*", default=PARALLELISM)
    parser.add_argument("--exchanges", type=int, nargs="*", default=EXCHANGES)
    parser.add_argument("--job", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.job:
        ms, size, parallelism, exchanges = json.loads(options.job[0])
        run_job(Cell(ms, size, parallelism, exchanges), Path(options.job[1]))
        return 0
    wanted = [Cell(*values) for values in product(options.ms, options.bytes, options.parallelism, options.exchanges)]
    with tempfile.TemporaryDirectory(prefix="wiesel-savepoints-") as temporary:
        return 0 if run(Console(width=None if sys.stdout.isatty() else 140), Path(temporary), wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
