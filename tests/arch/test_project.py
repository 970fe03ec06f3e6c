"""The project file, the commands and what they promise agree with each other."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

import wiesel
from tests.arch.repository import ROOT, read
from wiesel.platform.cli import _doctor


def test_versions_and_needs_are_stated_alike_everywhere() -> None:
    project = read("pyproject.toml")
    # Of a checkout that is not installed, and of one whose history is not there.
    assert f'fallback-version = "{wiesel._FALLBACK_VERSION}"' in project
    assert f'"pyspark=={_doctor.PYSPARK_NEEDED}"' in project
    low, high = _doctor.PYTHON_NEEDED
    assert f'requires-python = ">={low[0]}.{low[1]},<{high[0]}.{high[1] + 1}"' in project
    dev = read("scripts/dev")
    assert f"java_needed={_doctor.JAVA_NEEDED}" in dev
    assert f"java_package={_doctor.JAVA_PACKAGE}" in dev
    assert _doctor.JAVA_PACKAGE in read("README.md")


def test_the_page_on_installation_lists_all_extras_with_their_packages() -> None:
    section = read("pyproject.toml").partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    lists = re.findall(r"^(\w+) = \[(.*?)\]$", section, re.MULTILINE | re.DOTALL)
    extras = {name: set(re.findall(r'"([\w-]+)', body)) for name, body in lists}
    rows = re.findall(r"^\| `(\w+)` \| .* \|(.*)\|$", read("docs/installation.md"), re.MULTILINE)
    listed = {name: set(re.findall(r"`([\w-]+)`", packages)) for name, packages in rows}
    assert listed.keys() == extras.keys() and len(rows) == len(listed)
    assert {name: packages for name, packages in listed.items() if packages} == {
        name: packages for name, packages in extras.items() if name != "dev"
    }


def test_the_console_script_is_the_command() -> None:
    found = re.search(r'^wiesel = "([\w.]+):(\w+)"$', read("pyproject.toml"), re.MULTILINE)
    assert found is not None
    assert isinstance(getattr(import_module(found[1]), found[2]), click.Group)


def test_help_answers_at_once_as_it_imports_next_to_nothing() -> None:
    # Counted, not timed: what a start takes are its imports. A bare Python has some 40, with click 100, with PySpark 270.
    program = (
        "import sys\n"
        "from wiesel.platform.cli import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "finally:\n"
        "    print(len(sys.modules))\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "Usage:" in said and int(said.split()[-1]) < 180


def test_continuous_integration_runs_the_test_command_and_nothing_else() -> None:
    lines = [line for line in read(".ci/run").splitlines() if line and not line.startswith("#")]
    assert lines == ["set -eu", 'cd "$(dirname "$0")/.."', "exec make test"]


def test_every_target_of_the_makefile_is_a_command_of_the_script() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", read("Makefile"), re.MULTILINE)
    assert phony is not None
    dev = read("scripts/dev")
    for target in phony[1].split():
        assert re.search(rf"^  {re.escape(target)}( \||\))", dev, re.MULTILINE), target


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A PATH with what every system has, and neither Java nor Python."""
    for name in ("bash", "dirname", "sed", "head", "cat", "cksum", "mkdir", "tail", "rm"):
        found = subprocess.run(["bash", "-c", f"command -v {name}"], capture_output=True, text=True, check=True).stdout.strip()
        (tmp_path / name).symlink_to(found)
    return tmp_path


def test_a_missing_java_gives_one_sentence_with_the_package(bare_path: Path) -> None:
    told = subprocess.run(
        ["bash", "scripts/dev", "test"], cwd=ROOT, env={"PATH": str(bare_path)}, capture_output=True, text=True, timeout=60
    )
    assert told.returncode == 2
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1
    assert "openjdk-17-jre-headless" in told.stderr
    assert "none on the PATH" in told.stderr


@pytest.mark.parametrize(("version", "accepted"), [("1.8.0_392", False), ("11.0.22", False), ("17.0.9", True), ("21-ea", True)])
def test_java_is_accepted_from_17_on(bare_path: Path, version: str, accepted: bool) -> None:
    java = bare_path / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    told = in_functions("check_java", bare_path)
    if accepted:
        assert (told.returncode, told.stderr) == (0, "")
    else:
        assert told.returncode == 2
        assert f"is {version}: install the package openjdk-17-jre-headless" in told.stderr


def _functions() -> str:
    """The script up to its commands: only definitions."""
    return read("scripts/dev").split("# Commands ---")[0].replace('cd "$(dirname "${BASH_SOURCE[0]}")/.."', "")


def in_functions(call: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"{_functions()}\n{call}"], env={"PATH": str(path)}, cwd=path, capture_output=True, text=True, timeout=60
    )


def test_without_a_python_the_sentence_says_which(bare_path: Path) -> None:
    told = in_functions("new_venv", bare_path)
    assert told.returncode == 2
    assert told.stderr.startswith("Wiesel needs Python 3.10 to 3.13")


def test_a_python_without_venv_names_the_package(bare_path: Path) -> None:
    # Answers as a Python 3.11 whose distribution has split ensurepip off.
    python = bare_path / "python3.11"
    python.write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; *print*) echo 3.11;; esac\n')
    python.chmod(0o755)
    told = in_functions("new_venv", bare_path)
    assert told.returncode == 2
    assert told.stderr.startswith("Python 3.11 at ")
    assert "install the package python3-venv" in told.stderr
    assert not (bare_path / ".venv").exists()
