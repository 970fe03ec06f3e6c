"""Names of ``pyflink.table`` that are not here say so."""

from __future__ import annotations

import json
import pathlib

import pytest

import wiesel.table

RECORDED = pathlib.Path(__file__).parents[1] / "pyflink_names" / "pyflink_names.jsonl"
EXPORTED = {entry["name"] for entry in map(json.loads, RECORDED.read_text().splitlines()) if entry["module"] == "table"}


def test_names_of_pyflink_are_here_or_said_to_be_absent() -> None:
    for name in EXPORTED - set(wiesel.table.__all__):
        with pytest.raises(ImportError, match=f"has no {name} in this version; it has: .*StreamTableEnvironment.*\n  what to do: "):
            getattr(wiesel.table, name)
    with pytest.raises(AttributeError):
        wiesel.table.nothing_of_this_name  # noqa: B018 - the access is what is tested
