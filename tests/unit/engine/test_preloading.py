"""What Spark's Python daemon does once for all workers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wiesel.engine.spark.preloading import PRELOADED_MODULES, leave_archives, preload, without_archives


def installation(folder: Path, *packages: str) -> list[str]:
    """Make what an installation of PySpark looks like; return the path that Spark gives its workers."""
    for package in packages:
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").touch()
    archives = [folder / "pyspark" / "python" / "lib" / name for name in ("pyspark.zip", "py4j-0.10.9.9-src.zip")]
    return [*map(str, archives), str(folder)]


def test_archives_of_an_installed_pyspark_are_left_out(tmp_path: Path) -> None:
    path = installation(tmp_path, "pyspark", "py4j")
    assert without_archives(path) == [str(tmp_path)]


def test_an_archive_stays_where_nothing_else_has_its_package(tmp_path: Path) -> None:
    path = installation(tmp_path, "pyspark")
    assert without_archives(path) == path[1:], "py4j is only in its archive"
    assert without_archives(path[:2]) == path[:2], "what is installed is not on the path"


def test_other_archives_stay(tmp_path: Path) -> None:
    path = ["", "users.zip", "/opt/spark/python/lib/pyspark.zip", str(tmp_path)]
    assert without_archives(path) == path


def test_an_archive_that_was_searched_already_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = installation(tmp_path, "pyspark", "py4j")
    monkeypatch.setattr(sys, "path", path)
    monkeypatch.setattr(sys, "path_importer_cache", {path[0]: None, "other": None})
    leave_archives()
    assert sys.path == [str(tmp_path)]
    assert list(sys.path_importer_cache) == ["other"]


def test_modules_of_the_first_job_are_imported_and_unknown_ones_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    monkeypatch.setenv(PRELOADED_MODULES, "no_such_module,no_such.package,,colorsys")
    preload()
    assert "colorsys" in sys.modules and "pyspark.worker" in sys.modules
