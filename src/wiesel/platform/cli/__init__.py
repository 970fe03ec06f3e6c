"""Internal. The ``wiesel`` command.

Heavy modules are imported inside the commands: ``wiesel --help`` has to be fast and must not import Spark.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

import wiesel
from wiesel.platform.cli._examples import examples

__all__ = ["main"]

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_aligned_timeout = click.option(
    "--alignedTimeout",
    "aligned_timeout",
    metavar="DURATION",
    help="Time after which the savepoint becomes unaligned and includes the records in flight.",
)
_PROGRAM = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


class _ProgramOrJob(click.ParamType):  # type: ignore[type-arg]  # only new versions of click know it as generic
    """A program's file, or the id or name of a running job if there is no such file, and the name does not look like one."""

    name = "program or job"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:
        if not Path(value).exists() and Path(value).name == str(value) and not str(value).endswith(".py"):
            return str(value)
        return Path(_PROGRAM.convert(value, param, ctx))


def _absolute(directory: str | None) -> str | None:
    """Return an absolute path: the job may have another working directory."""
    from wiesel.checkpoint.state_files import absolute

    return None if directory is None else absolute(directory)


class _ProgramCommand(click.Command):
    """A command that takes a program and its arguments, with the options that configure its job."""

    def __init__(self, *args: Any, program_type: Any = _PROGRAM, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [
            *self.params,
            click.Option(
                ["-p", "--parallelism"],
                type=click.IntRange(min=1),
                help="Parallelism of operators that set none themselves.",
            ),
            click.Option(
                ["-D", "dynamic"],
                multiple=True,
                metavar="KEY=VALUE",
                help="A configuration option, for example -D state.backend.type=lmdb. Repeatable. @FILE and ${env:NAME} stand for values.",
            ),
            click.Option(
                ["-s", "--fromSavepoint", "savepoint"],
                metavar="PATH",
                help="Checkpoint or savepoint to start from.",
            ),
            click.Option(
                ["-n", "--allowNonRestoredState", "allow_non_restored"],
                is_flag=True,
                help="Start even if the savepoint has state of operators that the program does not have; it is dropped.",
            ),
            click.Option(
                ["-cm", "--claimMode", "-rm", "--restoreMode", "claim_mode"],
                type=click.Choice(["claim", "no_claim", "legacy"], case_sensitive=False),
                help="Ownership of the savepoint: with claim, the job deletes it when checkpoints have subsumed it.",
            ),
            click.Option(
                ["--py-files", "-pyfs", "--pyFiles", "py_files"],
                multiple=True,
                metavar="FILES",
                help="Further .py files, archives and folders for the program and its workers, separated by commas.",
            ),
            click.Option(
                ["--traceback", "full_traceback"],
                is_flag=True,
                envvar="WIESEL_TRACEBACK",
                help="Show errors with all frames, including those inside Wiesel and Spark.",
            ),
            click.Argument(["program"], type=program_type),
            click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED),
        ]


class _CheckCommand(_ProgramCommand):
    """A command that takes a program, a savepoint, and the program's arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [p for p in self.params if p.name not in ("savepoint", "claim_mode")]
        self.params.insert(len(self.params) - 1, click.Argument(["path"], metavar="SAVEPOINT"))


def _print_version(context: click.Context, option: click.Parameter, given: bool) -> None:
    # Read lazily: that takes a tenth of a second.
    if given:
        click.echo(f"wiesel {wiesel.__version__}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version and exit.")
def main() -> None:
    """Stream jobs in Python with Flink's semantics, on Spark."""


# Options precede the program; all arguments after it belong to the program.
@main.command(cls=_ProgramCommand, context_settings={"allow_interspersed_args": False})
@click.option("-d", "--detached", is_flag=True, help="Start it in the background, print the job's id, and leave it running.")
@click.option("--log", type=click.Path(dir_okay=False), help="With -d: the file of its output, else PROGRAM-TIME.log.")
@click.option("--json", "as_json", is_flag=True, help="With -d: print JSON.")
def run(detached: bool, log: str | None, as_json: bool, **options: Any) -> None:
    """Run a program. It may import wiesel... or pyflink...; ARGUMENTS are its own."""
    from wiesel.platform.cli._program import Submission, run_program

    submission = Submission.parse(**options)
    if detached:
        from wiesel.platform.cli._detached import run_detached

        raise SystemExit(run_detached(submission, log, as_json=as_json))
    if log is not None or as_json:
        raise click.UsageError("--log and --json go with -d: without it the output is the program's")
    raise SystemExit(run_program(submission))


@main.command(cls=_ProgramCommand, program_type=_ProgramOrJob(), context_settings={"allow_interspersed_args": False})
@_json
def info(program: Path | str, as_json: bool, **options: Any) -> None:
    """Print the execution plan of a program's first job as JSON, without running it; or state, tasks and checkpoints of a running job.

    Of each task there are records, time shares, the rows that wait before it, the watermark, and how far that is behind the clock.
    """
    if isinstance(program, str):
        from wiesel.platform.cli._jobs import show_job

        raise SystemExit(show_job(program, as_json=as_json))
    from wiesel.platform.cli._program import Submission, show_plan

    raise SystemExit(show_plan(Submission.parse(program=program, **options)))


@main.command("list")
@click.option("-a", "--all", "-r", "--running", "_all", is_flag=True, hidden=True)
@_json
def list_jobs(_all: bool, as_json: bool) -> None:
    """Print the jobs running on this machine."""
    from wiesel.platform.cli._jobs import list_jobs

    raise SystemExit(list_jobs(as_json=as_json))


@main.command()
@click.argument("job")
@_json
def cancel(job: str, as_json: bool) -> None:
    """Cancel the running JOB (its id, the first digits of it, or its name)."""
    from wiesel.platform.cli._jobs import cancel

    raise SystemExit(cancel(job, as_json=as_json))


@main.command()
@click.argument("job")
@click.option("-p", "--savepointPath", "directory", help="Parent directory of the savepoint; by default the configured one.")
@click.option("-d", "--drain", is_flag=True, help="Fire all windows and timers first: the job is not to go on.")
@click.option("--label", default="", help="Label shown by 'wiesel savepoint list'.")
@_aligned_timeout
@_json
def stop(job: str, directory: str | None, label: str, drain: bool, aligned_timeout: str | None, as_json: bool) -> None:
    """End the running JOB with a savepoint, and print its path. If the savepoint fails, the job continues."""
    from wiesel.platform.cli._jobs import stop

    raise SystemExit(stop(job, _absolute(directory), label, drain=drain, aligned_timeout=aligned_timeout, as_json=as_json))


@main.command()
@click.argument("job")
@_json
def checkpoint(job: str, as_json: bool) -> None:
    """Take a checkpoint of the running JOB."""
    from wiesel.platform.cli._jobs import take_checkpoint

    raise SystemExit(take_checkpoint(job, as_json=as_json))


@main.command()
@click.argument("job")
@click.argument("parallelism", type=click.IntRange(min=1))
@_json
def rescale(job: str, parallelism: int, as_json: bool) -> None:
    """Rescale the running JOB to another PARALLELISM of all operators for which its program sets none."""
    from wiesel.platform.cli._jobs import rescale

    raise SystemExit(rescale(job, parallelism, as_json=as_json))


@main.command()
@click.option("-p", "--parallelism", type=click.IntRange(min=1), help="Parallelism of operators that set none themselves.")
@click.option("-D", "dynamic", multiple=True, metavar="KEY=VALUE", help="A configuration option. Repeatable.")
@click.option("--py-files", "-pyfs", "py_files", multiple=True, metavar="FILES", help="Further .py files and folders to import from.")
def shell(parallelism: int | None, dynamic: tuple[str, ...], py_files: tuple[str, ...]) -> None:
    """Open a Python prompt with env, st_env and bt_env: environments for streams, streaming tables and tables in batch mode.

    IPython is used if installed.
    """
    from wiesel.platform.cli._program import PYTHON_FILES, configuration_of, python_files
    from wiesel.platform.cli._shell import run_shell

    options, files = configuration_of(dynamic, parallelism), python_files(py_files)
    raise SystemExit(run_shell(options | ({PYTHON_FILES: ",".join(files)} if files else {}), files))


@main.command()
@_json
def version(as_json: bool) -> None:
    """Print the versions of Wiesel and its dependencies."""
    from wiesel.platform.cli._doctor import versions

    if as_json:
        click.echo(json.dumps(dict(versions())))
        return
    for name, number in versions():
        click.echo(f"{name:<8} {number}")


@main.command()
@_json
def doctor(as_json: bool) -> None:
    """Check whether this machine can run jobs: Python, Java and Spark."""
    from wiesel.platform.cli._doctor import examine

    findings = examine()
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    for finding in [] if as_json else findings:
        click.echo(f"{'ok ' if finding.good else 'BAD'}  {finding.subject}: {finding.text}")
        if finding.remedy:
            click.echo(f"     what to do: {finding.remedy}")
    raise SystemExit(0 if all(finding.good for finding in findings) else 1)


@main.command("warm-up")
@_json
def warm_up(as_json: bool) -> None:
    """Create the archive of Java classes that speeds up the start of jobs: once per installation; takes some seconds and 160 MB."""
    from wiesel.platform.cli._warm_up import warm_up as make

    raise SystemExit(make(as_json=as_json))


main.add_command(examples)


class _SavepointGroup(click.Group):
    """Accepts Flink's forms: ``savepoint JOB [DIRECTORY]`` for ``savepoint trigger``, ``savepoint -d PATH`` for ``dispose``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in ("-d", "--dispose"):
            args = ["dispose", *args[1:]]
        elif args and args[0] not in self.commands and args[0] not in self.get_help_option_names(ctx):
            args = ["trigger", *args]
        return super().parse_args(ctx, args)


@main.group(cls=_SavepointGroup)
def savepoint() -> None:
    """Take savepoints of running jobs, check them before a job starts from them, list and delete them."""


@savepoint.command("trigger")
@click.argument("job")
@click.argument("directory", required=False)
@click.option("--label", default="", help="Label shown by 'wiesel savepoint list'.")
@_aligned_timeout
@_json
def take_savepoint(job: str, directory: str | None, label: str, aligned_timeout: str | None, as_json: bool) -> None:
    """Take a savepoint of the running JOB below DIRECTORY, else the configured one, and print its path."""
    from wiesel.platform.cli._jobs import take_savepoint

    raise SystemExit(take_savepoint(job, _absolute(directory), label, aligned_timeout=aligned_timeout, as_json=as_json))


@savepoint.command("check", cls=_CheckCommand, context_settings={"allow_interspersed_args": False})
@_json
def check_savepoint(path: str, as_json: bool, allow_non_restored: bool, **options: Any) -> None:
    """Report how a program would restore each state of a savepoint or checkpoint; nothing is run or changed.

    Operators are opened, so the open() methods of functions run: sources, sinks and asynchronous functions are excluded.
    """
    from wiesel.platform.cli._program import Submission
    from wiesel.platform.cli._savepoints import check

    submission = Submission.parse(**options, savepoint=None, claim_mode=None, allow_non_restored=False)
    raise SystemExit(check(submission, path, allow_dropped=allow_non_restored, as_json=as_json))


@savepoint.command("list")
@click.argument("directory")
@_json
def list_savepoints(directory: str, as_json: bool) -> None:
    """Print the savepoints in DIRECTORY with time, size and label, the newest first."""
    from wiesel.platform.cli._savepoints import list_below

    raise SystemExit(list_below(directory, as_json=as_json))


@savepoint.command("dispose")
@click.argument("path")
@click.option("-f", "--force", is_flag=True, help="Delete a checkpoint even if it is unknown whether its job has ended.")
@_json
def dispose_savepoint(path: str, force: bool, as_json: bool) -> None:
    """Delete the savepoint at PATH, or the checkpoint (.../<job id>/chk-7) that a job has left; also 'savepoint -d PATH'.

    Files shared with other checkpoints are retained.
    """
    from wiesel.platform.cli._savepoints import dispose

    raise SystemExit(dispose(path, force=force, as_json=as_json))


_TRUST = click.option("--trust", is_flag=True, help="Read it even if it is not signed: this runs the code pickled in it.")
_KEY_FILE = click.option("--key-file", type=click.Path(dir_okay=False), help="The key of the job (wiesel.snapshots.key-file).")


@savepoint.command("repair")
@click.argument("checkpoint")
@click.argument("output")
@_TRUST
@_KEY_FILE
def repair_output(checkpoint: str, output: str, trust: bool, key_file: str | None) -> None:
    """Revert OUTPUT, the folder of a file sink, to CHECKPOINT (.../<job id>/chk-7), so that the job can be restored from it.

    If later checkpoints are damaged, the files committed by them would be duplicated. They are moved to a hidden folder in OUTPUT.
    """
    from wiesel.platform.cli._savepoints import repair
    from wiesel.platform.cli._state import SnapshotTrust

    raise SystemExit(repair(checkpoint, output, SnapshotTrust(trust, key_file)))


@main.group()
def state() -> None:
    """Inspect retained checkpoints."""


@state.command("show")
@click.argument("path")
@_json
def show_state(path: str, as_json: bool) -> None:
    """Print the operators of the checkpoint at PATH (.../<job id>/chk-7, or a job's for its newest) and their states."""
    from wiesel.platform.cli._state import show

    raise SystemExit(show(path, as_json=as_json))


@state.command("read")
@click.argument("path")
@click.option("--uid", help="The operator, by its uid.")
@click.option("--operator-id", help="Id of the operator, if it has no uid.")
@click.option("--state", "states", multiple=True, help="Name of a state; by default all keyed states. Repeatable for keyed states.")
@click.option("--windows", is_flag=True, help="Show the state of a window operator per key and window.")
@click.option("--timers", is_flag=True, help="The timers.")
@click.option("--limit", type=click.IntRange(min=1), help="Maximal number of rows.")
@click.option("--expired", is_flag=True, help="Include expired values that are still stored.")
@click.option("--json", is_flag=True, expose_value=False, help="The default: rows are JSON in any case.")
@_TRUST
@_KEY_FILE
def read_state(path: str, trust: bool, key_file: str | None, **options: Any) -> None:
    """Print state of the checkpoint at PATH, a row per line, as JSON.

    State is pickled, so a checkpoint is read only if it was signed by a job of this user, or with --trust.
    """
    from wiesel.platform.cli._state import SnapshotTrust, Wanted, read

    raise SystemExit(read(path, Wanted(**options), SnapshotTrust(trust, key_file)))


@main.group(invoke_without_command=True)
@click.option("-f", "--file", "files", multiple=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True), help="A script.")
@click.option("-e", "--execute", "strings", multiple=True, help="Statements. Both options are repeatable; files come first.")
@click.option("-D", "dynamic", multiple=True, metavar="KEY=VALUE", help="A configuration option, as with run. Repeatable.")
@click.option("-p", "--parallelism", type=click.IntRange(min=1), help="Parallelism of operators.")
@click.option(
    "-i", "--init", multiple=True, type=click.Path(exists=True, dir_okay=False), help="A script for the beginning: tables and options."
)
@click.option("--history", type=click.Path(dir_okay=False), help="History file of the prompt; by default ~/.wiesel-sql-history.")
@click.option("--batch", is_flag=True, help="Run queries over bounded tables in batch mode, and show the final result only.")
@click.option("--explain", is_flag=True, help="Show the plans of queries and inserts instead of running them.")
@click.pass_context
def sql(
    context: click.Context,
    files: tuple[str, ...],
    strings: tuple[str, ...],
    dynamic: tuple[str, ...],
    parallelism: int | None,
    init: tuple[str, ...],
    history: str | None,
    batch: bool,
    explain: bool,
) -> None:
    """Run SQL statements. The exit code is 1 if one fails; later ones are not run.

    Without -f and -e statements are read from a prompt, and results are shown as they arrive.
    """
    if context.invoked_subcommand is not None:
        return
    from wiesel.platform.cli._program import configuration_of
    from wiesel.platform.cli._sql import SqlSources, converse, run
    from wiesel.platform.cli._sql_modules import find_modules

    options = configuration_of(dynamic, parallelism)
    find_modules([*files, *init], options)
    if files or strings:
        raise SystemExit(run(SqlSources(files, strings), options, init, batch=batch, explain_only=explain))
    if not sys.stdin.isatty():
        raise click.UsageError("give a script with -f ('-': the standard input) or statements with -e; there is no terminal to type in")
    raise SystemExit(converse(options, init, history, batch=batch, explain_only=explain))


@sql.command("test")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("-k", "--only", metavar="TEXT", help="Only tests whose name contains this.")
def test_sql(files: tuple[str, ...], only: str | None) -> None:
    """Run the tests in YAML FILES: rows of tables, statements, and their expected results. The exit code is 1 if one fails."""
    from wiesel.platform.cli._sql_modules import find_modules
    from wiesel.platform.cli._sql_test import run_tests

    find_modules(files)
    raise SystemExit(run_tests(files, only))


@sql.command("check")
@click.argument("scripts", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("-i", "--init", multiple=True, type=click.Path(exists=True, dir_okay=False), help="A script with tables that these use.")
@click.option("--batch", is_flag=True, help="Check the scripts for batch mode.")
@click.option("--syntax-only", is_flag=True, help="Do not resolve names and types.")
@click.option("--format", "to_format", is_flag=True, help="Format the scripts in place; '-' is written to the output.")
@click.option("--diff", is_flag=True, help="Show what --format would change, and write nothing; the exit code is 1 if it would.")
@_json
def check_sql(
    scripts: tuple[str, ...], init: tuple[str, ...], batch: bool, syntax_only: bool, to_format: bool, diff: bool, as_json: bool
) -> None:
    """Report errors in the SCRIPTS ('-': the standard input): syntax, names, types and options. No job runs."""
    from wiesel.platform.cli._sql_check import check, lay_out
    from wiesel.platform.cli._sql_modules import find_modules

    find_modules([*scripts, *init])
    if to_format or diff:
        raise SystemExit(lay_out(scripts, diff=diff))
    raise SystemExit(check(scripts, init, names=not syntax_only, batch=batch, as_json=as_json))
