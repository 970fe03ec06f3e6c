"""The tutorial of ``docs/sql.md`` runs as it is written, on the demo's flights, and returns what pandas makes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from examples.flights import data
from wiesel.platform.cli import main

DOCUMENT = Path(__file__).parents[3] / "docs" / "sql.md"


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data.prepare(tmp_path_factory.mktemp("flights"))


def test_the_tutorial(flights: Path, tmp_path: Path) -> None:
    section = DOCUMENT.read_text().split("\n## ")[1]
    assert section.startswith("Ten minutes")
    blocks = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
    script = "\n".join(blocks).replace(".cache/flights/replay-1", str(flights)).replace("'late'", f"'{tmp_path / 'late'}'")
    (tmp_path / "flights.sql").write_text(script)
    arguments = ["sql", "--batch", "-D", "wiesel.engine=local", "-p", "2", "-f", str(tmp_path / "flights.sql")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    given = pd.concat(pd.read_parquet(path) for path in flights.glob("*.parquet"))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in result.output.splitlines() if line.startswith("|")]
    assert rows[0] == ["origin", "flights", "late_ones", "cancelled"]
    assert {row[0]: [int(cell) for cell in row[1:]] for row in rows[1:]} == {
        origin: [len(part), int((part["delay_min"] > 60).sum()), int(part["delay_min"].isna().sum())]
        for origin, part in given.groupby("origin")
    }
    late = given[given["delay_min"] > 600]
    written = {
        path.name.removeprefix("origin="): sorted(line for part in path.glob("part-*") for line in part.read_text().splitlines())
        for path in (tmp_path / "late").iterdir()
    }
    assert written == {
        origin: sorted(f"{row.carrier},{row.number},{int(row.delay_min)}" for row in part.itertuples())
        for origin, part in late.groupby("origin")
    }
