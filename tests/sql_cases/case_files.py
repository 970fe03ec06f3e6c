"""The cases: one ``.sql`` file each, with comments at its beginning that say what it needs.

``-- uses: orders, rates`` puts the statements of ``tables/orders.sql`` and ``tables/rates.sql`` before its own; ``-- modes: batch`` runs it
in batch mode only (both modes by default), ``-- ordered: batch`` says that the rows of queries come in an order there, and ``-- options:
key=value`` sets an option. ``${data}`` is the folder of the tables' files, ``${out}`` an empty one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
GOLDENS = HERE / "goldens.jsonl"
_HEADER = re.compile(r"^-- (uses|modes|ordered|options): (.*)$", re.MULTILINE)
_END = re.compile(r";[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A case."""

    name: str
    text: str
    data: Path = HERE / "data"

    def _header(self, key: str) -> list[str]:
        return [word.strip() for found, words in _HEADER.findall(self.text) if found == key for word in words.split(",")]

    @property
    def modes(self) -> list[str]:
        """Return the modes in which it runs."""
        return self._header("modes") or ["streaming", "batch"]

    @property
    def options(self) -> dict[str, str]:
        """Return the options that are set besides."""
        return dict(option.split("=", 1) for option in self._header("options"))

    def is_ordered(self, mode: str) -> bool:
        """Return whether the rows of its queries come in an order."""
        return mode in self._header("ordered")

    def prelude(self, out: str) -> list[str]:
        """Return the statements that make its tables."""
        return [self._filled((HERE / "tables" / f"{name}.sql").read_text(), out).rstrip().rstrip(";") for name in self._header("uses")]

    def own(self, out: str) -> list[str]:
        """Return the statements of the case."""
        parts = (part.strip() for part in _END.split(_HEADER.sub("", self.text)))
        return [self._filled(part, out) for part in parts if part]

    def statements(self, out: str) -> list[str]:
        """Return all statements."""
        return [*self.prelude(out), *self.own(out)]

    def _filled(self, text: str, out: str) -> str:
        return text.replace("${data}", str(self.data)).replace("${out}", out)


def all_cases() -> list[Case]:
    """Return all cases, by name."""
    return [Case(path.stem, path.read_text()) for path in sorted((HERE / "cases").glob("*.sql"))]
