"""Internal. HTML representations for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table"]

_LONGEST = 200


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; all strings are escaped, and long ones are truncated."""
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    lines = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>"


def _cell(value: object) -> str:
    text = str(value)
    return escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
