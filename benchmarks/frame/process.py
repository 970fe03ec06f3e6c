"""Starts one run in processes of its own and reads what it says."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from subprocess import DEVNULL, Popen
from subprocess import run as run_command
from typing import Any

from frame.case import PYFLINK, SPARK, WIESEL, CheckFailed, Run
from frame.peers import CACHE, ROOT, python_of

BENCHMARKS = ROOT / "benchmarks"
PROGRAMS = BENCHMARKS / "programs"
LAUNCHER = BENCHMARKS / "frame" / "launch.py"

WIESEL_COMMAND = "from wiesel.platform.cli import main; main(prog_name='wiesel')"


class RunFailed(Exception):
    """A run ended with an error, not at all, or without a result; the message holds the end of its log."""


def warm_up() -> None:
    """Make the archive of classes that an installation makes once, unless it is there."""
    run_command([sys.executable, "-c", WIESEL_COMMAND, "warm-up"], env=_own_environment(), stdout=DEVNULL, check=False)


def perform(run: Run) -> dict[str, Any]:
    """Run once and return the figures: the program's own and the launcher's account.

    Raises:
        PeerMissing: the engine cannot be installed here.
        RunFailed: no result.
        CheckFailed: a result, but not the right one.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"run-{run.engine}-", dir=CACHE))
    try:
        command = _command(run, folder)
        account_file, log = folder / "account.json", folder / "log"
        launcher = [sys.executable, str(LAUNCHER), str(account_file), str(run.timeout_s), "--", *command]
        with log.open("wb") as stream:
            process = Popen(launcher, stdout=stream, stderr=stream, cwd=folder, env=_environment(run), start_new_session=True)
            try:
                process.wait()
            except BaseException:
                process.terminate()
                process.wait()
                raise
        figures = _read(account_file, log)
        run.verify(figures)
        return figures
    except (RunFailed, CheckFailed) as error:
        kept = CACHE / f"failed-{run.engine}.log"
        if (folder / "log").exists():
            shutil.copy(folder / "log", kept)
        raise type(error)(f"{error} (log: {kept})") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _command(run: Run, folder: Path) -> list[str]:
    program = str(BENCHMARKS / run.program)
    (folder / "out").mkdir()
    arguments = ["--folder", str(folder / "out")]
    for name, given in run.arguments.items():
        value = given() if callable(given) else given
        if value is True:
            arguments.append(f"--{name}")
        elif value is not None and value is not False:
            arguments += [f"--{name}", str(value).replace("{folder}", str(folder))]
    conf = {key: str(value).replace("{folder}", str(folder)) for key, value in run.conf.items()}
    if run.engine == WIESEL:
        options = [word for key, value in conf.items() for word in ("-D", f"{key}={value}")]
        return [sys.executable, "-c", WIESEL_COMMAND, "run", *options, program, *arguments]
    python = python_of(run.engine)
    if run.engine == PYFLINK:
        # Flink's JVM starts the workers' Python by this name.
        conf = {"python.executable": str(python), "python.client.executable": str(python), **conf}
    options = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    return [str(python), program, *arguments, *options]


def _common_environment() -> dict[str, str]:
    env = dict(os.environ)
    env.pop("PYTHONPATH", None)
    # Nobody who runs a job compiles all of its modules each time.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONUNBUFFERED"] = "1"
    return env


def _own_environment() -> dict[str, str]:
    env = _common_environment()
    env["PYSPARK_PYTHON"] = env["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Only for a checkout that is not installed; an installed one has these modules on its path anyway.
    env["PYTHONPATH"] = str(ROOT / "src")
    return env


def _environment(run: Run) -> dict[str, str]:
    if run.engine == WIESEL:
        return _own_environment()
    env = _common_environment()
    python = python_of(run.engine)
    env["PATH"] = f"{python.parent}{os.pathsep}{env.get('PATH', '')}"
    for name in ("SPARK_HOME", "FLINK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        env.pop(name, None)
    if run.engine == SPARK:
        env["PYSPARK_PYTHON"] = env["PYSPARK_DRIVER_PYTHON"] = str(python)
    else:
        # Flink's workers find the modules beside the program by this, Wiesel ships them by itself.
        env["PYTHONPATH"] = str(PROGRAMS)
    return env


def _read(account_file: Path, log: Path) -> dict[str, Any]:
    lines = log.read_text(errors="replace").splitlines()
    tail = " | ".join(line for line in lines[-6:] if line.strip())[-1500:]
    if not account_file.exists():
        raise RunFailed(f"the launcher ended without an account: {tail}")
    account = json.loads(account_file.read_text())
    if account["timed_out"]:
        raise RunFailed(f"not done after {account['wall_s']:.0f} s: {tail}")
    if account["exit_code"] != 0:
        raise RunFailed(f"exit code {account['exit_code']}: {tail}")
    result = _result(lines)
    if result is None:
        raise RunFailed(f"no result on the last line: {tail}")
    series = account.pop("cpu_series")
    figures = {**account, **result}
    if "steady_records" in result:
        used_s = _cpu_at(series, result["steady_to_ns"]) - _cpu_at(series, result["steady_from_ns"])
        figures["steady_cpu_us"] = round(used_s * 1e6 / result["steady_records"], 3)
    if "first_ns" in result:
        figures["startup_s"] = round((result["first_ns"] - account["started_ns"]) / 1e9, 3)
    if result.get("records"):
        figures["cpu_us_per_record"] = round(account["cpu_s"] * 1e6 / result["records"], 3)
    return figures


def _cpu_at(series: list[tuple[int, float]], at_ns: int) -> float:
    """Return the CPU seconds used up to a time, straight between samples."""
    before = (at_ns, 0.0)
    for sample in series:
        if sample[0] >= at_ns:
            span = sample[0] - before[0]
            return before[1] + (sample[1] - before[1]) * ((at_ns - before[0]) / span if span else 0.0)
        before = sample
    return before[1]


def _result(lines: list[str]) -> dict[str, Any] | None:
    """Return the JSON object on the last line that holds one (JVMs may still say goodbye behind it)."""
    for line in reversed(lines[-40:]):
        if line.startswith("{"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                return value
    return None
