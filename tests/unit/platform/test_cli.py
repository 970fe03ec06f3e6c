"""The ``wiesel`` command as a user meets it: in a process of its own, with programs in files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wiesel.core import hooks

LIMIT_S = 150
_START = "import sys; sys.argv[0] = 'wiesel'; from wiesel.platform.cli import main; main()"


def wiesel_command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", _START, *arguments], cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S)


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["info", "1"], ["stop", "1"], ["savepoint", "1"], ["cancel", "1"]])
def test_help_and_commands_for_running_jobs_load_no_large_library(arguments: list[str], tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from wiesel.platform.cli import main\n"
        "try:\n"
        f"    main({arguments!r})\n"
        "except SystemExit as end:\n"
        "    print(end.code, sorted({'pyspark', 'pyarrow', 'pandas', 'numpy', 'rich'} & set(sys.modules)))\n"
    )
    environment = {**os.environ, "WIESEL_REGISTRY_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT_S, check=True, cwd=tmp_path, env=environment
    )
    if arguments == ["--help"]:
        assert {"run", "info", "doctor", "version"} <= set(done.stdout.split())
    assert done.stdout.splitlines()[-1] == ("0 []" if arguments[-1] != "1" else "1 []"), done.stderr


def test_run_makes_the_program_main_with_its_own_arguments_and_folder(tmp_path: Path) -> None:
    write(tmp_path, "jobs/beside.py", "word = 'beside'\n")
    write(
        tmp_path,
        "jobs/job.py",
        "import json, sys, beside\n"
        "print(json.dumps([__name__, sys.argv, sys.path[0], beside.word, __file__, sys.modules['__main__'].__dict__ is globals()]))\n",
    )
    ended = wiesel_command("run", "-p", "2", "jobs/job.py", "-p", "9", "--help", "-Dx=y", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    folder = tmp_path.resolve() / "jobs"
    assert json.loads(ended.stdout) == [
        "__main__", ["jobs/job.py", "-p", "9", "--help", "-Dx=y"], str(folder), "beside", str(folder / "job.py"), True,
    ]  # fmt: skip


def test_run_hands_the_options_over_as_defaults_of_the_process(tmp_path: Path) -> None:
    extra = write(tmp_path, "extra/more.py", "word = 'more'\n")
    # What reaches the configuration is looked at where the command hands it over.
    write(
        tmp_path,
        "spy.py",
        "import json, sys\n"
        "from wiesel.core import config\n"
        "config.set_process_defaults = lambda given: print(json.dumps(given))\n"
        "sys.argv[0] = 'wiesel'\n"
        "from wiesel.platform.cli import main\n"
        "main()\n",
    )
    write(tmp_path, "job.py", "import more\nprint(more.word)\n")
    write(tmp_path, "password", "hunter2\n")
    secrets = ["-Da.password=@password", "-Da.url=http://${env:WIESEL_USER}@host", "-Da.at=@@x"]
    given_twice = ["-p", "3", "-Dparallelism.default=7"]
    arguments = [*given_twice, *secrets, "-D", "a.b=c=d", "-s", "chk/chk-4", "--py-files", "extra/more.py", "job.py"]
    environment = {**os.environ, "WIESEL_USER": "me"}
    command = [sys.executable, "spy.py", "run", *arguments]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    assert ended.returncode == 0, ended.stderr
    given, word = ended.stdout.splitlines()
    assert json.loads(given) == {
        "a.password": "hunter2",
        "a.url": "http://me@host",
        "a.at": "@x",
        "a.b": "c=d",
        "parallelism.default": "3",
        "execution.state-recovery.path": "chk/chk-4",
        "python.files": str(extra.resolve()),
    }
    assert word == "more"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "missing.py"], "missing.py"),
        (["run", "-D", "novalue", "job.py"], "not of the form key=value"),
        (["run", "-D", "my.password=@gone", "job.py"], "my.password: the file 'gone' cannot be read: No such file"),
        (["run", "-D", "my.password=${env:WIESEL_NOT_SET}", "job.py"], "'WIESEL_NOT_SET' is not set"),
        (["run", "-p", "0", "job.py"], "0"),
        (["run", "--py-files", "job.py,gone.zip", "job.py"], "there is no 'gone.zip'"),
        (["run", "--py-files", "data.csv", "job.py"], "neither a .py file"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_a_wrong_call_is_told_and_nothing_runs(tmp_path: Path, arguments: list[str], told: str) -> None:
    write(tmp_path, "job.py", "print('ran')\n")
    write(tmp_path, "data.csv", "")
    ended = wiesel_command(*arguments, cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert told in ended.stderr


def test_an_error_starts_with_the_users_innermost_frame(tmp_path: Path) -> None:
    write(tmp_path, "parsing.py", "def parse(text):\n    return int(text)\n")
    write(tmp_path, "job.py", "import parsing, json\nprint('before')\nparsing.parse('zwölf')\n")
    ended = wiesel_command("run", "job.py", cwd=tmp_path)
    assert ended.returncode == 1
    assert ended.stdout == "before\n"
    assert ended.stderr.splitlines() == [
        "parsing.py:2, in parse",
        "    return int(text)",
        "called from job.py:3, in <module>",
        "    parsing.parse('zwölf')",
        "ValueError: invalid literal for int() with base 10: 'zwölf'",
    ]


def test_frames_of_libraries_are_folded_unless_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "job.py", "import json\njson.loads('[')\n")
    folded = wiesel_command("run", "job.py", cwd=tmp_path).stderr
    assert folded.startswith("job.py:2, in <module>")
    assert "raw_decode" not in folded
    assert "--traceback" in folded
    assert "raw_decode" in wiesel_command("run", "--traceback", "job.py", cwd=tmp_path).stderr


def test_a_program_that_does_not_parse_shows_its_line(tmp_path: Path) -> None:
    write(tmp_path, "job.py", "x = 1\ny = = 2\n")
    ended = wiesel_command("run", "job.py", cwd=tmp_path)
    assert ended.returncode == 1
    assert "y = = 2" in ended.stderr
    assert "SyntaxError" in ended.stderr


@pytest.mark.parametrize(("last_line", "code"), [("sys.exit(7)", 7), ("sys.exit()", 0), ("sys.exit('no')", 1)])
def test_the_programs_own_exit_code_is_kept(tmp_path: Path, last_line: str, code: int) -> None:
    write(tmp_path, "job.py", f"import sys\n{last_line}\n")
    assert wiesel_command("run", "job.py", cwd=tmp_path).returncode == code


def test_a_pyflink_module_that_is_missing_is_told_at_the_users_line(tmp_path: Path) -> None:
    write(tmp_path, "job.py", "from pyflink.java_gateway import get_gateway\n")
    ended = wiesel_command("run", "job.py", cwd=tmp_path)
    assert ended.returncode == 1
    first, _, text, *_ = ended.stderr.splitlines()
    assert first == "job.py:1, in <module>"
    assert text.startswith("ModuleNotFoundError: Wiesel has no counterpart of pyflink.java_gateway")


def test_a_name_that_a_module_lacks_is_told_as_wiesels_gap(tmp_path: Path) -> None:
    write(tmp_path, "job.py", "from pyflink.common import NotThereAtAll\n")
    told = wiesel_command("run", "job.py", cwd=tmp_path).stderr
    assert "wiesel.common lacks this name in Wiesel" in told


_PLAN_PROGRAM = """
from wiesel.core import hooks
print("building")
try:
    if hooks.plan_only():
        raise hooks.PlanReady('{"nodes": []}', None)
except Exception:
    print("the plan must not be taken for a failure")
print("ran")
"""


def test_info_prints_the_plan_alone_on_standard_output(tmp_path: Path) -> None:
    write(tmp_path, "job.py", _PLAN_PROGRAM)
    shown = wiesel_command("info", "job.py", cwd=tmp_path)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, '{"nodes": []}\n', "building\n")
    assert wiesel_command("run", "job.py", cwd=tmp_path).stdout == "building\nran\n"


def test_info_of_a_program_with_no_job_says_so(tmp_path: Path) -> None:
    write(tmp_path, "job.py", "x = 1\n")
    ended = wiesel_command("info", "job.py", cwd=tmp_path)
    assert ended.returncode == 1
    assert "without a call of execute()" in ended.stderr


def test_workers_of_a_run_are_told_to_install_the_hook(tmp_path: Path) -> None:
    write(tmp_path, "job.py", "from wiesel.core import hooks\nprint(hooks.worker_initializers())\n")
    assert "wiesel.platform.pyflink_hook:install" in wiesel_command("run", "job.py", cwd=tmp_path).stdout
    program = (
        "from wiesel.core import hooks\n"
        "hooks.run_worker_initializers(['wiesel.platform.pyflink_hook:install'])\n"
        "import pyflink; print(pyflink.__name__)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT_S, cwd=tmp_path)
    assert ended.stdout == "wiesel\n"


def test_a_worker_initializer_is_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "_worker_initializers", [])
    hooks.add_worker_initializer("a:b")
    hooks.add_worker_initializer("a:b")
    assert hooks.worker_initializers() == ("a:b",)


def test_g8_operator_wins_over_environment_over_command_line_over_configuration(tmp_path: Path) -> None:
    lines = [
        "from wiesel.datastream import StreamExecutionEnvironment",
        "env = StreamExecutionEnvironment.get_execution_environment()",
        "env.set_parallelism(4)",
        "mapped = env.from_collection([1]).map(lambda n: n).name('mapped')",
        "mapped.set_parallelism(5)",
        "mapped.print()",
        "env.execute()",
    ]
    options = ["-p", "3", "-D", "parallelism.default=2"]

    def parallelism() -> int:
        write(tmp_path, "job.py", "\n".join(lines))
        shown = wiesel_command("info", *options, "job.py", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        (node,) = (node for node in json.loads(shown.stdout)["nodes"] if node["type"] == "mapped")
        return int(node["parallelism"])

    # Taken away one by one, from the top.
    found = [parallelism()]
    lines.remove("mapped.set_parallelism(5)")
    found.append(parallelism())
    lines.remove("env.set_parallelism(4)")
    found.append(parallelism())
    del options[:2]
    found.append(parallelism())
    assert found == [5, 4, 3, 2]


def test_a_program_that_forgot_to_execute_is_told_of_it(tmp_path: Path) -> None:
    built = (
        "from wiesel.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1, 2]).print()\n"
    )
    write(tmp_path, "forgot.py", built)
    ended = wiesel_command("run", "-D", "wiesel.engine=local", "forgot.py", cwd=tmp_path)
    assert ended.returncode == 0 and "what it has built did not run" in ended.stderr
    write(tmp_path, "runs.py", built + "env.execute()\n")
    ended = wiesel_command("run", "-D", "wiesel.engine=local", "runs.py", cwd=tmp_path)
    assert ended.stdout.split() == ["1", "2"] and "did not run" not in ended.stderr


ENDLESS = """
from pyflink.common import WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
env.from_source(NumberSequenceSource(1, 10**12), WatermarkStrategy.no_watermarks(), "numbers").print()
env.execute()
"""


@pytest.mark.parametrize("ends", ["output", "signal"])
def test_a_job_whose_reader_has_gone_or_that_is_terminated_ends_without_a_wall_of_text(tmp_path: Path, ends: str) -> None:
    write(tmp_path, "job.py", ENDLESS)
    command = [sys.executable, "-c", _START, "run", "-D", "wiesel.engine=local", "job.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "1\n"
        assert process.stderr.readline().startswith("Job has been submitted")
        if ends == "signal":
            process.terminate()
            process.stdout.read()
        else:
            process.stdout.close()
        lines = process.stderr.read().splitlines()
        code = process.wait(LIMIT_S)
    told = [line.partition(";")[0] for line in lines if "Error" in line or "Traceback" in line or "terminated" in line]
    assert (code, told) == ((-15, ["terminated by SIGTERM"]) if ends == "signal" else (141, [])), lines
