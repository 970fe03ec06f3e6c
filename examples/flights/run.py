"""The demo: a year of flights as a stream on Spark, watched while it runs, and a report of what came out.

    python examples/flights/run.py              the year, as fast as it goes
    python examples/flights/run.py --days 30    January only
    python examples/flights/run.py --kill       processes are killed meanwhile; shows that the output is the same

``make demo`` and ``make demo-kill`` set up what it needs first.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # started as a file, not as a module
    sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402

from examples.flights import data, job, kill, report  # noqa: E402
from examples.flights.progress import Progress  # noqa: E402
from examples.flights.source import FlightSource  # noqa: E402
from wiesel.common import Configuration  # noqa: E402
from wiesel.core.errors import WieselError  # noqa: E402
from wiesel.datastream import StreamExecutionEnvironment  # noqa: E402

CHECKPOINT_INTERVAL_MS = 2000
_LOOK_EVERY_S = 0.25
_CANCEL_S = 30.0
_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        if options.kill:
            return kill.run(console, options)
        return run(console, options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    except WieselError as error:
        print(error, file=sys.stderr)
        return 1


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Replays a year of real flights as a stream.")
    parser.add_argument("--days", type=float, help="replay only so many days of the year")
    parser.add_argument("--speed-up", type=float, help="how many times faster than it happened; as fast as possible by default")
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--output", type=Path, default=ROOT / "out" / "flights", help="directory of results and checkpoints")
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "flights", help="directory of the prepared records")
    parser.add_argument("--engine", choices=("spark", "local"), default="spark", help="local: in this process, with a virtual clock")
    parser.add_argument("--kill", action="store_true", help="kill workers and the driver meanwhile, and compare the outputs")
    parser.add_argument("--restore", help=argparse.SUPPRESS)  # where an earlier driver's checkpoints are
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)  # looks at the job as lines of JSON, and no report
    return parser.parse_args(arguments)


def run(console: Console, options: argparse.Namespace) -> int:
    """Run the job and report."""
    directory = data.prepare(options.cache)
    total = data.count(directory, options.days)
    if options.restore is None:
        shutil.rmtree(options.output, ignore_errors=True)
    if options.json:
        run_job(options, directory, lambda metrics: print(json.dumps(metrics), flush=True))
        return 0
    engine = "Spark" if options.engine == "spark" else "the local engine"
    console.print(f"{total:,} records of flights from New York in 2013, replayed on {engine}; results in {options.output}", highlight=False)
    if options.engine == "spark":
        console.print("starting Spark ...")
    started_s = time.monotonic()
    with Progress(console, total, options.days) as progress:
        last = run_job(options, directory, progress.show)
        progress.show(last, last=True)
    report.print_report(console, options.output, total)
    console.print(f"{time.monotonic() - started_s:.0f} s with the start of {engine}.", highlight=False)
    return 0


def run_job(options: argparse.Namespace, directory: Path, show: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Run the job to its end and show how it is doing; return the last look at it.

    Raises:
        JobExecutionError: the job failed.
    """
    env = StreamExecutionEnvironment.get_execution_environment(configuration(options))
    env.set_parallelism(options.parallelism).enable_checkpointing(CHECKPOINT_INTERVAL_MS)
    results = job.build(env, FlightSource(directory, options.days, options.speed_up))
    job.write(results, options.output)
    client = env.execute_async("flights")
    end = client.get_job_execution_result()
    try:
        while True:
            try:
                end.result(_LOOK_EVERY_S)
                return client.get_job_metrics().result()
            except TimeoutError:
                show(client.get_job_metrics().result())
    except KeyboardInterrupt:
        client.cancel()
        # The job gets the time to end in order; a second Ctrl-C ends the waiting too.
        with contextlib.suppress(WieselError, TimeoutError):
            end.result(_CANCEL_S)
        raise


def configuration(options: argparse.Namespace) -> Configuration:
    settings = {
        "wiesel.engine": options.engine,
        "execution.checkpointing.dir": str(options.output / "checkpoints"),
        "heartbeat.interval": "500 ms",  # how often tasks report their metrics
    }
    if options.restore is not None:
        settings["execution.state-recovery.path"] = options.restore
        settings["execution.state-recovery.claim-mode"] = "CLAIM"
    return Configuration.from_dict(settings)


if __name__ == "__main__":
    sys.exit(main())
