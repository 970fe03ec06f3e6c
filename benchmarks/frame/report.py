"""The tables on the terminal and the JSON beside them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from frame.case import Case, Result

HEADINGS = {
    "rate": "records/s",
    "wall_s": "total s",
    "startup_s": "start-up s",
    "cpu_s": "CPU s",
    "cpu_us_per_record": "CPU µs/record",
    "steady_cpu_us": "steady CPU µs/record",
    "p50_ms": "p50 ms",
    "p99_ms": "p99 ms",
    "p999_ms": "p99.9 ms",
    "max_ms": "max ms",
    "recovery_ms": "recovery ms",
    "python_anonymous_mb": "Python MB",
    "python_rss_mb": "with mapped files MB",
    "take_s": "take in s",
    "sort_s": "sort s",
    "read_s": "read s",
    "data_mb": "data MB",
    "gc_share": "share of GC",
    "major_collections": "major collections",
}
# Behind a case's own figures, whatever they are.
ALWAYS = ("steady_cpu_us", "wall_s", "startup_s", "cpu_s", "cpu_us_per_record", "load_before")


@dataclass
class Outcome:
    """What became of one run: figures of its repetitions, or why there are none."""

    label: str
    engine: str
    repetitions: list[Result] = field(default_factory=list)
    failure: str | None = None
    left_out: bool = False

    def figures(self) -> dict[str, Any]:
        """Return the median of every figure; nothing if a repetition failed."""
        if self.failure or not self.repetitions:
            return {}
        numbers = [name for name, value in self.repetitions[0].items() if isinstance(value, (int, float))]
        return {name: statistics.median(rep[name] for rep in self.repetitions if name in rep) for name in numbers}


def print_case(console: Console, case: Case, outcomes: Sequence[Outcome]) -> None:
    """Print one case: a table of its runs, then its targets."""
    columns = [*case.figures, *(name for name in ALWAYS if name not in case.figures)]
    table = Table(title=f"{case.name}: {case.title}", title_justify="left", title_style="bold")
    table.add_column("run")
    for name in columns:
        table.add_column(HEADINGS.get(name, "load" if name == "load_before" else name), justify="right")
    shown = [outcome for outcome in outcomes if not outcome.left_out]
    for outcome in shown:
        figures = outcome.figures()
        cells = [_number(figures.get(name)) for name in columns] if figures else ["-"] * len(columns)
        table.add_row(outcome.label, *cells)
    console.print(table)
    for outcome in shown:
        if outcome.failure:
            console.print(f"  [red]{outcome.label}: no figure:[/] {outcome.failure}", highlight=False)
    absent = {outcome.label for outcome in outcomes if outcome.left_out}
    for target, verdict in zip(case.targets, verdicts(case, outcomes), strict=True):
        if {target.of, target.against} & absent:
            continue
        value = "no figure" if verdict["value"] is None else _number(verdict["value"])
        mark = {True: "[green]met[/]", False: "[red]falls short[/]", None: ""}[verdict["met"]]
        console.print(f"  {verdict['target']}: [bold]{value}[/] {mark}", highlight=False)
    for order in case.orders:
        console.print(f"  {order.text}: [bold]{order.told({o.label: o.figures() for o in outcomes})}[/]", highlight=False)
    console.print()


def print_mean(console: Console, prefix: str, cases: Sequence[Mapping[str, Any]]) -> None:
    """Print the ratios of all cases whose names begin like that in one table, with their geometric mean."""
    found = {case["name"]: {run["label"]: run["median"] for run in case["runs"]} for case in cases if case["name"].startswith(prefix)}
    whole = {name: list(runs.values()) for name, runs in found.items() if all(runs.values())}
    if not whole:
        return
    table = Table(title=f"{prefix}*", title_justify="left", title_style="bold")
    for heading in ("case", *next(iter(found.values())), "ratio", "ratio of CPU"):
        table.add_column(heading, justify="right")
    rates, cpu = [], []
    for name, (ours, theirs) in whole.items():
        rates.append(ours["rate"] / theirs["rate"])
        cpu.append(theirs["cpu_s"] / ours["cpu_s"])
        table.add_row(name, _number(ours["rate"]), _number(theirs["rate"]), f"{rates[-1]:.2f}", f"{cpu[-1]:.2f}")
    table.add_row("geometric mean", "", "", f"{statistics.geometric_mean(rates):.2f}", f"{statistics.geometric_mean(cpu):.2f}")
    console.print(table)
    if len(whole) < len(found):
        console.print(f"  without figures of both: {', '.join(sorted(set(found) - set(whole)))}", highlight=False)


def verdicts(case: Case, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the targets of a case with their values."""
    figures: Mapping[str, Result] = {outcome.label: outcome.figures() for outcome in outcomes}
    found = []
    for target in case.targets:
        value = target.value(figures)
        rounded = None if value is None else round(value, 3)
        bounds = {"at_least": target.at_least, "at_most": target.at_most}
        found.append({"target": target.text, "value": rounded, **bounds, "met": target.met(value)})
    return found


def as_json(case: Case, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return a case with all repetitions, for the JSON file."""
    runs = []
    for run, outcome in zip(case.runs, outcomes, strict=True):
        asked = {"program": run.program, "arguments": _plain(run.arguments), "conf": _plain(run.conf), "expected": dict(run.expected)}
        runs.append({**asdict(outcome), **asked, "median": outcome.figures()})
    return {"name": case.name, "title": case.title, "runs": runs, "targets": verdicts(case, outcomes)}


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, (int, float, str)) else "made when the run starts" for name, value in options.items()}


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
