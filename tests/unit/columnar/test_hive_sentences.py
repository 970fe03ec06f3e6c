"""Texts are cut into sentences and words as Hive's own class cuts them (recorded by ``record_hive_sentences.py``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wiesel.columnar.functions.hive_sentences import sentences
from wiesel.common import Configuration
from wiesel.core.errors import WieselError
from wiesel.table import TableEnvironment

ROWS = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "hive_sentences.json").read_text())


def test_texts_are_cut_as_by_hive() -> None:
    wrong = [(text, sentences(text), wanted) for text, wanted in ROWS if sentences(text) != wanted]
    assert not wrong[:5], f"{len(wrong)} of {len(ROWS)}"


def environment() -> TableEnvironment:
    tables = TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH"))
    tables.execute_sql("LOAD MODULE hive")
    return tables


@pytest.mark.parametrize("language", ["", ", 'en'", ", 'en', 'US'", ", CAST(NULL AS STRING)"])
def test_sentences_in_queries(language: str) -> None:
    query = f"SELECT SENTENCES(x{language}) FROM (VALUES ('Hello there! I am.'), (CAST(NULL AS STRING)), ('')) AS t (x)"
    rows = [row[0] for row in environment().execute_sql(query).collect()]
    assert rows == [[["Hello", "there"], ["I", "am"]], None, []]


def test_thai_and_wrong_arguments_are_refused() -> None:
    with pytest.raises(WieselError, match="Thai"):
        list(environment().execute_sql("SELECT SENTENCES('a', 'th')").collect())
    with pytest.raises(WieselError, match="cannot apply"):
        environment().execute_sql("SELECT SENTENCES(1)")
