"""How the connector of a table is found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from wiesel.connectors.number_sequence import NumberSequenceSource
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.factory import ScanTableSource, TableContext, TableOptions, TableSourceFactory
from wiesel.spi.table.schema import Schema
from wiesel.sql.catalog.table_factories import create_table_source, with_metadata
from wiesel.types.types import Types

NAME = ObjectIdentifier("c", "d", "t")
ROWS = Types.ROW_NAMED(["n"], [Types.LONG()])


class NumbersFactory(TableSourceFactory):
    """A connector as another package brings it."""

    identifier = "numbers"

    def create_source(self, context: TableContext) -> ScanTableSource:
        options = TableOptions(self.identifier, context.table.options)
        end = options.require(ConfigOption[int]("end", "int", None, "the last number"))
        options.refuse_unknown()
        return ScanTableSource(NumberSequenceSource(0, end), parallelism=3)


def table(connector: str, made_at: str = "", **options: str) -> CatalogTable:
    return CatalogTable(Schema.new_builder().column("n", "BIGINT").build().resolve(), {"connector": connector, **options}, made_at=made_at)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs a package that announces connectors."""

    def install(entries: str) -> None:
        info = tmp_path / "numbers-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: numbers\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[wiesel.table_factories]\n{entries}\n")
        monkeypatch.syspath_prepend(str(tmp_path))

    monkeypatch.setitem(sys.modules, "numbers_package", sys.modules[__name__])
    return install


def test_a_package_brings_a_connector(package: Any) -> None:
    package("numbers = numbers_package:NumbersFactory")
    made = create_table_source(NAME, table("numbers", end="5"), ROWS)
    assert isinstance(made.source, NumberSequenceSource) and made.parallelism == 3


def test_its_options_are_checked(package: Any) -> None:
    package("numbers = numbers_package:NumbersFactory")
    with pytest.raises(ConfigurationError, match=r"reading table 'c\.d\.t': 'numbers' needs the option 'end'") as caught:
        create_table_source(NAME, table("numbers"), ROWS)
    assert caught.value.hint == "'end' = '...' among the options of the table: the last number"
    with pytest.raises(ConfigurationError, match="'numbers' needs the option 'end'") as caught:
        create_table_source(NAME, table("numbers", edn="5"), ROWS)
    assert caught.value.hint.startswith("did you mean it by 'edn'? ")
    with pytest.raises(ConfigurationError, match="unsupported options for 'numbers': ends, x") as caught:
        create_table_source(NAME, table("numbers", end="5", ends="6", x="7"), ROWS)
    assert caught.value.hint == "did you mean 'end' for 'ends'? the supported options are:\n  connector\n  end"


def test_an_unknown_connector_tells_those_there_are(package: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"there is no connector 'kafka'; connectors are: .*datagen") as caught:
        create_table_source(NAME, table("kafka", made_at="program.py:7"), ROWS)
    assert "'c.d.t' (made at program.py:7): " in str(caught.value) and "install the package" in str(caught.value)
    package("numbers = numbers_package:NumbersFactory")
    with pytest.raises(ConfigurationError, match="did you mean 'numbers'"):
        create_table_source(NAME, table("number"), ROWS)


def test_a_package_that_announces_something_else(package: Any) -> None:
    package("numbers = numbers_package:ObjectIdentifier.mro")
    with pytest.raises(ConfigurationError, match="connector 'numbers' is a list, not a TableSourceFactory"):
        create_table_source(NAME, table("numbers"), ROWS)


def test_metadata_columns_need_a_connector_that_has_them() -> None:
    schema = Schema.new_builder().column("n", "BIGINT").column_by_metadata("ts", "TIMESTAMP(3)").build().resolve()
    with pytest.raises(ProgramError, match=r"reading table 'c\.d\.t': connector 'datagen' has no metadata 'ts' for column `ts`"):
        with_metadata(NAME, CatalogTable(schema, {"connector": "datagen"}))
