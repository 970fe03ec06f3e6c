"""Finds and loads the differential programs, and runs one of them in an environment that is given.

A program is a plain PyFlink program, so this module imports neither PyFlink nor Wiesel: whoever uses it has made sure that
``pyflink`` can be imported, for real or by Wiesel's import hook.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
GOLDENS = HERE / "goldens"
STREAMING = "STREAMING"
BATCH = "BATCH"


@dataclass(frozen=True)
class Variant:
    """One way to run a program: the environment's parallelism and the runtime mode."""

    parallelism: int
    mode: str

    @property
    def key(self) -> str:
        """Name of the variant inside a golden file."""
        return f"{self.mode.lower()}-p{self.parallelism}"


@dataclass(frozen=True)
class Program:
    """A loaded program: its module and what the module declares."""

    name: str
    module: ModuleType

    @property
    def about(self) -> str:
        """The one line that says what the program shows."""
        return (self.module.__doc__ or "").strip()

    @property
    def variants(self) -> tuple[Variant, ...]:
        """All variants that are recorded, in that order; a program for both modes runs in BATCH mode at its highest parallelism only."""
        parallelisms = getattr(self.module, "PARALLELISM", (1, 2))
        modes = getattr(self.module, "MODES", (STREAMING,))
        in_batch = parallelisms if STREAMING not in modes else (max(parallelisms),)
        return tuple(Variant(p, mode) for mode in modes for p in (parallelisms if mode == STREAMING else in_batch))

    def build(self, env: Any) -> Any:
        """Builds the job in ``env`` and returns the single stream whose records are the result.

        A program with several named results yields records ``(name, value)``. With ``SEPARATE = True`` in the program the naming is
        not chained to what it names: PyFlink hands records along a chain of Python functions as they are, so that declared types
        show their effect at its end only.
        """
        result = self.module.build(env)
        if not isinstance(result, dict):
            return result
        tagged = [stream.map(_tagger(name)) for name, stream in result.items()]
        if getattr(self.module, "SEPARATE", False):
            tagged = [stream.disable_chaining() for stream in tagged]
        return tagged[0].union(*tagged[1:]) if len(tagged) > 1 else tagged[0]


def _tagger(name: str) -> Any:
    # The closure is shipped by value: it must not drag this module along into workers that cannot import it.
    scope: dict[str, Any] = {"__name__": "__differential_tagger__"}
    exec("def make(name):\n    return lambda value: (name, value)", scope)  # noqa: S102
    return scope["make"](name)


def program_names() -> list[str]:
    """Returns the names of all programs, sorted."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py") if not path.stem.startswith("_"))


def load(name: str) -> Program:
    """Loads a program afresh, as a main program would be: not importable by name, so that its functions are shipped by value.

    Raises:
        FileNotFoundError: no program has this name.
    """
    path = PROGRAMS / f"{name}.py"
    if not path.is_file():
        raise FileNotFoundError(f"There is no program {name!r} in {PROGRAMS}.")
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))  # for `punctuated`
    spec = importlib.util.spec_from_file_location(f"__program_{name}__", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path} cannot be loaded as a module.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Program(name, module)


def collect(stream: Any) -> list[Any]:
    """Runs the job and returns the records of ``stream``."""
    records = stream.execute_and_collect()
    try:
        return list(records)
    finally:
        records.close()
