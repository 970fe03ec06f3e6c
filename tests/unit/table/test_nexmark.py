"""The queries of Nexmark against what real Flink answers."""

from __future__ import annotations

import json
from pathlib import Path

from tests.differential import nexmark_data

GOLDENS = json.loads((Path(nexmark_data.__file__).parent / "goldens" / "nexmark.json").read_text(encoding="utf-8"))


def test_the_events_are_those_that_flink_has_seen(tmp_path: Path) -> None:
    events, _ = nexmark_data.make_events(tmp_path)
    assert nexmark_data.digest_of_events(events) == GOLDENS["events"]
