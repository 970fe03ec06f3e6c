"""The events over which the queries of Nexmark are compared with real Flink, and digests of results."""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path

NEXMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "nexmark"
QUERIES = [f"q{n}" for n in range(23) if n not in (6, 9, 12)]
"""All but q6, which Flink cannot run, q9, whose updates come without what they replace, and q12, which goes by the time of day."""

EVENTS, SEED, RATE = 20_000, 11, 500


def make_events(folder: Path) -> tuple[Path, Path]:
    """Write the events and the side input; return their folders."""
    generator = runpy.run_path(str(NEXMARK / "generator.py"))
    events, side = folder / "events", folder / "side"
    generator["write"](events, EVENTS, 1, SEED, RATE)
    side.mkdir()
    (side / "side.csv").write_text("".join(f"{key},value {key}\n" for key in range(10_000)))
    return events, side


def digest_of_events(events: Path) -> str:
    """Return a digest of the files of events."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(events.iterdir()))).hexdigest()


def digest_of(result: dict[str, int]) -> str:
    """Return a digest of rows as text, with how often each is there."""
    return hashlib.sha256("\n".join(f"{row} {count}" for row, count in sorted(result.items())).encode()).hexdigest()
