"""The wheel that is built from the sdist works where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.arch.repository import ROOT

PROGRAM = """
from wiesel.common import Types
from wiesel.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3, 4], Types.LONG())
numbers.key_by(lambda n: n % 2, Types.LONG()).reduce(lambda a, b: a + b).print()
env.execute()
"""


def run(command: Sequence[str | Path], cwd: Path) -> str:
    """Run a command without what leads to the checkout; return its output."""
    hidden = ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(target: str, source: Path, out: Path) -> Path:
    run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out], source)
    (built,) = out.glob("*.tar.gz" if target == "sdist" else "*.whl")
    return built


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin directory of an environment with the wheel, and the packages of this environment but for Wiesel."""
    folder = tmp_path_factory.mktemp("wheel")
    sdist = build("sdist", ROOT, folder)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    wheel = build("wheel", unpacked, folder)
    assert wheel.name.split("-")[1] == sdist.name.removeprefix("wiesel-").removesuffix(".tar.gz")
    run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], folder)
    python = folder / "venv" / "bin" / "python"
    run([sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", wheel], folder)
    # A path in a .pth file is searched, but the .pth files in it are not: that of the editable installation is not followed.
    site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder).strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return python.parent


def test_it_is_the_wheel_that_is_imported(installed: Path, tmp_path: Path) -> None:
    printed = run([installed / "python", "-c", "import wiesel; print(wiesel.__file__, wiesel.__version__)"], tmp_path).split()
    assert Path(printed[0]).is_relative_to(installed.parent)
    assert run([installed / "wiesel", "--version"], tmp_path).split() == ["wiesel", printed[1]]
    (metadata,) = installed.parent.rglob("wiesel-*.dist-info")
    assert metadata.name == f"wiesel-{printed[1]}.dist-info"


def test_a_job_runs_on_spark(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(PROGRAM)
    printed = run([installed / "wiesel", "run", "job.py"], tmp_path)
    assert printed.splitlines()[-4:] == ["1", "2", "4", "6"]


def test_examples_are_listed_copied_and_run(installed: Path, tmp_path: Path) -> None:
    wiesel = installed / "wiesel"
    names = [line.split()[0] for line in run([wiesel, "examples", "list"], tmp_path).splitlines()]
    assert {"word_count", "sql/orders_per_second", "sql/delays"} < set(names)
    assert "(to,4)" in run([wiesel, "examples", "run", "-D", "wiesel.engine=local", "word_count"], tmp_path)
    copied = run([wiesel, "examples", "copy", "sql/orders_and_payments"], tmp_path).split()
    assert copied == ["sql/orders_and_payments.sql", "sql/orders_and_payments.yaml"]
    assert "6 passed, 0 failed" in run([wiesel, "sql", "test", *copied[1:]], tmp_path)
