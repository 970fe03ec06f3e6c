"""Measures Wiesel beside PyFlink and Spark: ``run.py [names] [--quick] [--json out.json]``; see README.md."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cases import all_cases
from frame.case import PYFLINK, SPARK, WIESEL, Case, CheckFailed, Run, Scale
from frame.machine import describe
from frame.peers import ROOT, PeerMissing, python_of
from frame.process import RunFailed, perform, warm_up
from frame.report import Outcome, as_json, print_case, print_mean

# Side by side on a machine that does something else as well, even ratios drift; above this the tables say so.
BUSY_LOAD_PER_CORE = 0.5

# Of what goes into a file or a pipe.
WIDTH = 140


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures Wiesel beside PyFlink and Spark.")
    parser.add_argument("names", nargs="*", help="cases, or beginnings of their names; all if none is given")
    parser.add_argument("--quick", action="store_true", help="little work and one turn: a look, not figures to publish")
    parser.add_argument("--turns", type=int, help="how often each run is made, in turns (2, with --quick 1)")
    parser.add_argument("--engines", default=f"{WIESEL},{PYFLINK},{SPARK}", help="leave out the others, for example --engines wiesel")
    parser.add_argument("--json", type=Path, default=ROOT / "out" / "benchmarks.json", help="where all figures go")
    parser.add_argument("--list", action="store_true", help="name the cases and their runs")
    return parser.parse_args()


def chosen(cases: list[Case], names: list[str]) -> list[Case]:
    """Return the cases that are asked for.

    Raises:
        SystemExit: a name fits none.
    """
    for name in names:
        if not any(case.name.startswith(name) for case in cases):
            raise SystemExit(f"no case begins with {name!r}; there are {', '.join(case.name for case in cases)}")
    return [case for case in cases if not names or any(case.name.startswith(name) for name in names)]


def attempt(run: Run, outcome: Outcome, console: Console) -> None:
    """Make one run and note its figures or its failure."""
    if outcome.left_out or outcome.failure or (run.once and outcome.repetitions):
        return
    console.print(f"[dim]  {run.label} ...[/]", highlight=False)
    try:
        outcome.repetitions.append(perform(run))
    except PeerMissing as missing:
        outcome.failure = str(missing)
    except RunFailed as failed:
        outcome.failure = f"the run failed: {failed}"
    except CheckFailed as wrong:
        outcome.failure = f"wrong output: {wrong}"


def measure(case: Case, turns: int, engines: set[str], console: Console) -> list[Outcome]:
    """Make all runs of a case, one after the other, in turns."""
    console.print(f"[bold]{case.name}[/]", highlight=False)
    outcomes = [Outcome(run.label, run.engine) for run in case.runs]
    for outcome in outcomes:
        outcome.left_out = outcome.engine not in engines
    for _ in range(turns):
        for run, outcome in zip(case.runs, outcomes, strict=True):
            attempt(run, outcome, console)
    return outcomes


def prepare(cases: list[Case], engines: set[str]) -> None:
    """Set up the engines before anything is measured; what cannot be had is told with the runs it leaves out."""
    if WIESEL in engines:
        warm_up()
    for engine in sorted({run.engine for case in cases for run in case.runs} & engines - {WIESEL}):
        try:
            python_of(engine)
        except PeerMissing as missing:
            print(missing, file=sys.stderr)


def main() -> int:
    given = options()
    cases = chosen(all_cases(Scale(quick=given.quick)), given.names)
    if given.list:
        for case in cases:
            print(f"{case.name}: {case.title}\n    {'; '.join(run.label for run in case.runs)}")
        return 0
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    engines = set(given.engines.split(","))
    prepare(cases, engines)
    turns = given.turns or (1 if given.quick else 2)
    report = {"quick": given.quick, "turns": turns, **describe(engines), "cases": []}
    failed = False
    for case in cases:
        outcomes = measure(case, turns, engines, console)
        print_case(console, case, outcomes)
        failed |= any(outcome.failure is not None for outcome in outcomes)
        report["cases"].append(as_json(case, outcomes))
        # After each case, so that an interrupted run leaves what it has.
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(report, indent=1) + "\n")
    print_mean(console, "nexmark-", report["cases"])
    warn_of_load(report, console)
    console.print(f"all figures: {given.json}", highlight=False)
    return 1 if failed else 0


def warn_of_load(report: dict, console: Console) -> None:
    loads = [rep["load_before"] for case in report["cases"] for run in case["runs"] for rep in run["repetitions"]]
    cores = report["machine"]["cores"]
    if loads and max(loads) > 2 * BUSY_LOAD_PER_CORE * cores:
        # A load average falls slowly after the run before, hence the margin.
        what = f"the machine was busy (load up to {max(loads):.1f} on {cores} cores)"
        console.print(f"[yellow]{what}: CPU per record says more here than rates do[/]")


if __name__ == "__main__":
    raise SystemExit(main())
