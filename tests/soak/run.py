"""Long runs: random cells of the crash matrix, executors that are lost, a silent source, and a job at a steady rate whose memory, files,
threads and disk must stay flat.

    python tests/soak/run.py                              300 seeds, 8 losses on a cluster, ten minutes of silence, and an hour
    python tests/soak/run.py --seeds 0-9 --minutes 5      less of both
    python tests/soak/run.py --seeds 4710-4719 --alone    the cells of these seeds and nothing else
    python tests/soak/run.py --savepoints                 savepoints and stops behind slow functions, and nothing else (see savepoints.py)

Seeds belong together in rounds of ten, and whole rounds are played. Prints a table of each; the exit code is 1 if an output was wrong, a
fault did not hit, or something grew.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # started as a file, not as a module
    sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402

from tests.soak import executors, matrix, savepoints, silence, steady  # noqa: E402


def seeds(text: str) -> tuple[int, int]:
    """Return the first and the last seed of ``FIRST-LAST``."""
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Faults, and a steady rate.")
    parser.add_argument("--seeds", type=seeds, default="0-299", help="cells of the crash matrix: FIRST-LAST")
    parser.add_argument("--savepoints", action="store_true", help="savepoints and stops behind slow functions, and nothing else")
    parser.add_argument("--alone", action="store_true", help="only these")
    parser.add_argument("--losses", type=int, default=8, help="how many executors or workers of a cluster are lost")
    parser.add_argument("--minutes", type=float, default=60, help="how long the steady job runs")
    parser.add_argument("--silence", type=float, default=600, help="how many seconds a source says nothing")
    parser.add_argument("--rate", type=float, default=500, help="its records per second and split")
    parser.add_argument("--sample-seconds", type=float, default=10, help="how often it is measured")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--directory", type=Path, default=None, help="where output and checkpoints go; a temporary one by default")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    console.print(f"seed {seed}", highlight=False)
    with tempfile.TemporaryDirectory(prefix="wiesel-soak-") as temporary:
        directory = options.directory or Path(temporary)
        if options.savepoints:
            return 0 if savepoints.run(console, directory / "savepoints", savepoints.all_cells()) else 1
        try:
            matrix.run(console, directory / "matrix", *options.seeds)
            if options.alone:
                return 0
            if options.losses > 0:
                executors.run(console, directory / "executors", options.losses, random.Random(seed))
            if options.silence > 0:
                silence.run(console, directory / "silence", options.silence)
            if options.minutes > 0:
                steady.run(console, directory / "steady", options.minutes * 60, options.rate, options.sample_seconds)
        except AssertionError as failure:
            console.print(f"failed: {failure}", style="bold red", highlight=False, markup=False, soft_wrap=True)
            return 1
    console.print("[bold green]all well[/bold green]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
