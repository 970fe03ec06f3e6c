"""Reads the corpus of mistakes, makes each of them as its user would, and judges what the user gets to see.

A file of the corpus holds the mistakes of one topic::

    === name of the mistake
    the program, or the SQL script
    the_wrong_line()  # <- here
    +++ data.csv
    a further file of the working directory
    ---
    run: run -D key=value program.py      (arguments of wiesel; by default those that run the program or script)
    exit: 1                               (the default)
    what: part of the message that says what is wrong          (repeatable, as all that follow)
    where: part that says where; "# <- here" at the end of a line of the program means its file and number
    do: part of the advice; - where the program's own exception is all there is to say
    not: what the user must not see

The part of a file before its first mistake is put before each program of the file.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

import wiesel
from wiesel.core import config, hooks
from wiesel.platform import pyflink_hook
from wiesel.platform.cli import main

FOLDER = Path(__file__).parent
MARK = re.compile(r"\s*(#|--) <- here$")
MOST_LINES = 30
INTERNALS = (
    "Traceback (most recent call last)", 'File "', os.path.dirname(wiesel.__file__), "site-packages", "Py4J", "\tat ", "org.apache",
    "_pickle.", "object at 0x",
)  # fmt: skip
"""What belongs to the engine or to libraries, and is nothing that a user can act upon."""


@dataclass
class Mistake:
    """A mistake with what its user is to see."""

    topic: str
    name: str
    files: dict[str, str]
    arguments: list[str]
    exit_code: int = 1
    expected: dict[str, list[str]] = field(default_factory=lambda: {"what": [], "where": [], "do": [], "not": []})

    def __str__(self) -> str:
        return f"{self.topic}: {self.name}"


def read_corpus(*topics: str) -> list[Mistake]:
    """Return the mistakes of some topics, of all without any."""
    paths = sorted(FOLDER.glob("*.txt")) if not topics else [FOLDER / f"{topic}.txt" for topic in topics]
    return [mistake for path in paths for mistake in _read(path)]


def _read(path: Path) -> Iterator[Mistake]:
    prelude, *parts = re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)
    for part in parts:
        name, _, rest = part.partition("\n")
        body, _, expectations = rest.partition("\n---\n") if not rest.startswith("---\n") else ("", "", rest[4:])
        program, *more = re.split(r"^\+\+\+ ", prelude + body + "\n", flags=re.MULTILINE)
        main_file = "script.sql" if path.stem.startswith("sql") else "program.py"
        command = ["sql", "-f", main_file] if main_file == "script.sql" else ["run", main_file]
        mistake = Mistake(path.stem, name.strip(), {}, command)
        for number, line in enumerate(program.splitlines(), 1):
            if MARK.search(line):
                mistake.expected["where"].append(f"{main_file}:{number}" if main_file == "program.py" else f"line {number}, column ")
        mistake.files[main_file] = "".join(MARK.sub("", line) + "\n" for line in program.splitlines())
        for further in more:
            file, _, text = further.partition("\n")
            mistake.files[file.strip()] = text
        for line in expectations.strip().splitlines():
            kind, _, text = line.partition(": ")
            if kind == "exit":
                mistake.exit_code = int(text)
            elif kind == "run":
                mistake.arguments = shlex.split(text)
            else:
                mistake.expected[kind].append(text)
        yield mistake


@contextmanager
def process_as_found() -> Iterator[None]:
    """Undo afterwards what a program's run leaves in the process."""
    found = dict(sys.modules), list(sys.argv), list(sys.path), dict(os.environ), os.getcwd(), config.process_defaults()
    installed = pyflink_hook.is_installed()
    try:
        yield
    finally:
        modules, argv, path, environment, folder, defaults = found
        os.chdir(folder)
        sys.argv[:], sys.path[:] = argv, path
        os.environ.clear()
        os.environ.update(environment)
        if not installed:
            pyflink_hook.uninstall()
        sys.modules["__main__"] = modules["__main__"]
        config.set_process_defaults(defaults)
        hooks.tell_of_jobs(None)
        hooks.job_started((), endless=False)


def make_mistake(mistake: Mistake, folder: Path) -> tuple[int, str]:
    """Run the program in this process, on the local engine; return exit code and what its user sees on standard error."""
    for name, text in mistake.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("{folder}", str(folder)))
    command, *rest = mistake.arguments
    engine = ["-D", "wiesel.engine=local"] if command == "run" or (command == "sql" and rest[0] not in ("check", "test")) else []
    with process_as_found():
        os.chdir(folder)
        result = CliRunner().invoke(main, [command, *engine, *rest], prog_name="wiesel", catch_exceptions=False)
    return result.exit_code, result.stderr


def faults(mistake: Mistake, exit_code: int, shown: str) -> list[str]:
    """Return what is not good about what a user sees; empty if all is."""
    found = [] if exit_code == mistake.exit_code else [f"exit code {exit_code} in place of {mistake.exit_code}"]
    flat = " ".join(shown.split())
    for kind in ("what", "where"):
        found += [f"does not say {kind}: {text}" for text in mistake.expected[kind] if text not in flat]
    if not mistake.expected["what"] or not mistake.expected["do"]:
        found.append("the corpus does not tell what is to be said")
    _, said, advice = flat.partition("what to do: ")
    advice = advice if said else flat if mistake.exit_code == 2 else ""
    found += [f"does not say what to do: {text}" for text in mistake.expected["do"] if text not in advice and text != "-"]
    found += [f"shows {text!r}" for text in (*INTERNALS, *mistake.expected["not"]) if text in shown]
    lines = [line.strip() for line in shown.splitlines()]
    found += [f"says twice: {line}" for line in sorted({line for line in lines if len(line) > 30 and lines.count(line) > 1})]
    if flat.count("what to do: ") > 1:
        found.append("gives advice twice")
    if len(lines) > MOST_LINES:
        found.append(f"is {len(lines)} lines long")
    return found
