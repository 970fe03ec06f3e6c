"""Internal. ``wiesel examples``: list, copy and run the programs and SQL scripts in the package."""

from __future__ import annotations

import ast
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import click

import wiesel

__all__ = ["examples"]


@dataclass(frozen=True)
class Example:
    """An example.

    Attributes:
        name: Name in the commands: the path without the suffix, such as ``sql/delays``.
        kind: ``program``, ``SQL`` or ``SQL tests`` (scripts with input in a test file of the same name).
        path: The file to run.
        about: Summary in one line.
    """

    name: str
    kind: str
    path: Path
    about: str

    def files(self) -> list[Path]:
        """Return the files of the example: those with its name and any suffix."""
        return sorted(self.path.parent.glob(f"{self.path.stem}.*"))


def _folder() -> Path:
    """Return the directory of the examples: in the installed package, or in the checkout that the package is imported from."""
    package = Path(wiesel.__file__).parent
    return next(folder for folder in (package / "examples", package.parents[1] / "examples") if folder.is_dir())


def find_examples() -> list[Example]:
    """Return all examples, programs first."""
    folder = _folder()
    programs = [Example(path.stem, "program", path, _first_line(path)) for path in sorted(folder.glob("*.py"))]
    scripts = []
    for path in sorted((folder / "sql").glob("*.sql")):
        tests = path.with_suffix(".yaml")
        kind, runs = ("SQL tests", tests) if tests.is_file() else ("SQL", path)
        scripts.append(Example(f"sql/{path.stem}", kind, runs, _first_line(path)))
    return programs + scripts


def _first_line(path: Path) -> str:
    """Return the first sentence of a program's docstring or of a script's first comment."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        about = ast.get_docstring(ast.parse(text)) or ""
    else:
        about = text.partition("\n\n")[0].partition("CREATE")[0].replace("\n-- ", " ").removeprefix("-- ")
    line = about.partition("\n\n")[0].replace("\n", " ")
    return line.partition(". ")[0].removesuffix(".")


def find_example(name: str) -> Example:
    """Return an example by its name, with or without the suffix of its file.

    Raises:
        click.BadParameter: If there is no example of that name.
    """
    wanted = name.removesuffix(".py").removesuffix(".sql").removesuffix(".yaml")
    for example in find_examples():
        if example.name == wanted:
            return example
    raise click.BadParameter(f"there is no example {name!r}; 'wiesel examples list' prints the names")


def copy_examples(examples: list[Example], directory: Path, *, overwrite: bool) -> list[Path]:
    """Copy the files of examples below a directory, and return the copies. Without ``overwrite``, copy nothing if one of them exists.

    Raises:
        click.ClickException: If a file exists.
    """
    folder = _folder()
    copies = {directory / file.relative_to(folder): file for example in examples for file in example.files()}
    existing = [str(copy) for copy in copies if copy.exists()]
    if existing and not overwrite:
        raise click.ClickException(f"{', '.join(existing)} exists already; --force overwrites it")
    for copy, file in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    return list(copies)


@click.group()
def examples() -> None:
    """List, copy and run the examples that come with the package: programs, scripts of SQL and tests of SQL."""


@examples.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_examples(as_json: bool) -> None:
    """Print the names and summaries of the examples."""
    found = find_examples()
    if as_json:
        click.echo(json.dumps([{"name": e.name, "kind": e.kind, "path": str(e.path), "about": e.about} for e in found], indent=2))
        return
    for example in found:
        click.echo(f"{example.name:<24} {example.kind:<10} {example.about}")


@examples.command("copy")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Copy all examples.")
@click.option("-d", "--directory", default=".", show_default=True, type=click.Path(file_okay=False, path_type=Path), help="Where to.")
@click.option("-f", "--force", is_flag=True, help="Overwrite files that exist.")
def copy(names: tuple[str, ...], everything: bool, directory: Path, force: bool) -> None:
    """Copy the files of the examples NAMES."""
    if bool(names) == everything:
        raise click.UsageError("give the names of examples, or --all")
    for path in copy_examples(find_examples() if everything else [find_example(name) for name in names], directory, overwrite=force):
        click.echo(path)


@examples.command("run", context_settings={"allow_interspersed_args": False})
@click.option("-p", "--parallelism", type=click.IntRange(min=1), help="Parallelism of operators that set none themselves.")
@click.option("-D", "dynamic", multiple=True, metavar="KEY=VALUE", help="A configuration option. Repeatable.")
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def run_example(context: click.Context, parallelism: int | None, dynamic: tuple[str, ...], name: str, arguments: tuple[str, ...]) -> None:
    """Run the example NAME, with ARGUMENTS if it is a program, like 'wiesel run', 'wiesel sql -f' or 'wiesel sql test'."""
    example = find_example(name)
    options = [f"-D{each}" for each in dynamic] + ([f"-p{parallelism}"] if parallelism is not None else [])
    if arguments and example.kind != "program":
        raise click.UsageError("only programs take arguments")
    if options and example.kind == "SQL tests":
        raise click.UsageError("tests of SQL take no options: their files have them")
    commands = {"program": ["run", *options], "SQL": ["sql", *options, "-f"], "SQL tests": ["sql", "test"]}
    wiesel_command = context.find_root().command
    wiesel_command.main([*commands[example.kind], str(example.path), *arguments], prog_name="wiesel")
