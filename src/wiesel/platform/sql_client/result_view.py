"""Internal. Full-screen view of a result while its rows arrive, with Flink's keys for navigation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.output import Output

from wiesel.platform.sql_client.live_result import LiveResult
from wiesel.sql.session.tableau import border_line, row_line

__all__ = ["Shown", "show_result"]

_INTERVALS_S = (0.1, 0.5, 1.0, 5.0, 10.0, 60.0)
_CHROME = 5
"""Number of lines of the screen that are not rows: title, column names, rules and keys."""
_KEYS = "Q quit   R refresh   +/- slower, faster   N/P next, previous page   G first   L last   O open row"


@dataclass(frozen=True)
class Shown:
    """The displayed table: a title, names of columns and their widths."""

    title: str
    names: Sequence[str]
    widths: Sequence[int]


class _View:
    def __init__(self, live: LiveResult, shown: Shown) -> None:
        self._live = live
        self._shown = shown
        self.interval = _INTERVALS_S.index(1.0)
        self._page: int | None = None
        """The page that is shown, None for the last one."""
        self._selected = 0
        self._opened = False
        self._updated = time.time()
        self._size = 20
        self._drawn: tuple[int, Sequence[tuple[str, ...]]] = (0, ())

    def resize(self, lines: int) -> None:
        self._size = max(1, lines - _CHROME)

    def refresh(self) -> None:
        total, _ = self._live.page(0, 0)
        page = self._page_of(total)
        self._drawn = self._live.page(page * self._size, self._size)
        self._updated = time.time()

    def _page_of(self, total: int) -> int:
        last = max(0, (total - 1) // self._size)
        return last if self._page is None else min(self._page, last)

    def turn(self, pages: int) -> None:
        """Go on by some pages."""
        total = self._drawn[0]
        last = max(0, (total - 1) // self._size)
        page = min(last, max(0, self._page_of(total) + pages))
        self._page = None if page == last else page
        self.refresh()

    def go(self, page: int | None) -> None:
        """Go to a page; None follows the last one."""
        self._page = page
        self.refresh()

    def select(self, rows: int) -> None:
        """Select another row."""
        self._selected = min(max(0, self._selected + rows), max(0, len(self._drawn[1]) - 1))

    def open(self) -> None:
        """Toggle between the selected row alone and all rows."""
        self._opened = not self._opened and bool(self._drawn[1])

    def faster(self, steps: int) -> None:
        """Change the refresh interval by a number of steps."""
        self.interval = min(max(0, self.interval - steps), len(_INTERVALS_S) - 1)

    @property
    def seconds(self) -> float:
        return _INTERVALS_S[self.interval]

    def title(self) -> StyleAndTextTuples:
        total, _ = self._drawn
        pages = max(1, -(-total // self._size))
        page = "Last" if self._page is None else str(self._page_of(total) + 1)
        state = "finished" if self._live.is_over else "running"
        at = time.strftime("%H:%M:%S", time.localtime(self._updated))
        text = f" {self._shown.title}   {state}   Rows: {total}   Page: {page} of {pages}   Refresh: {self.seconds:g} s   Updated: {at}"
        return [("reverse", text)]

    def body(self) -> StyleAndTextTuples:
        rows = self._drawn[1]
        self._selected = min(self._selected, max(0, len(rows) - 1))
        if self._opened and rows:
            row = rows[self._selected]
            return [("", "\n".join(f"{name}: {value}" for name, value in zip(self._shown.names, row, strict=True)))]
        rule = border_line(self._shown.widths)
        found: StyleAndTextTuples = [("", f"{rule}\n"), ("bold", f"{row_line(self._shown.names, self._shown.widths)}\n"), ("", rule)]
        for place, row in enumerate(rows):
            found.append(("reverse" if place == self._selected else "", f"\n{row_line(row, self._shown.widths)}"))
        return found


def show_result(live: LiveResult, shown: Shown, input: Input | None = None, output: Output | None = None) -> None:
    """Show a result until the user leaves it or its job fails; cancel the job if it runs."""
    view = _View(live, shown)
    app: Application[None] = Application(
        layout=Layout(
            HSplit(
                [
                    Window(FormattedTextControl(view.title), height=1),
                    Window(FormattedTextControl(view.body), wrap_lines=False),
                    Window(FormattedTextControl([("reverse", f" {_KEYS}")]), height=1),
                ]
            )
        ),
        key_bindings=_keys(view),
        full_screen=True,
        refresh_interval=_INTERVALS_S[0],
        before_render=lambda app: _look(app, view, live),
        input=input,
        output=output,
    )
    try:
        app.run()
    finally:
        live.close()


def _look(app: Application[None], view: _View, live: LiveResult) -> None:
    view.resize(app.output.get_size().rows)
    if time.time() - view._updated >= view.seconds or not view._drawn[1]:
        view.refresh()
    if live.error is not None and not app.is_done:
        app.exit()


def _keys(view: _View) -> KeyBindings:
    keys = KeyBindings()

    def on(names: tuple[str, ...], act: object) -> None:
        def handle(event: KeyPressEvent) -> None:
            act()  # type: ignore[operator]

        for name in names:
            keys.add(name)(handle)

    def leave(event: KeyPressEvent) -> None:
        event.app.exit()

    for name in ("q", "Q", "c-c", "c-d"):
        keys.add(name)(leave)
    on(("r", "R"), view.refresh)
    on(("+",), lambda: view.faster(-1))
    on(("-",), lambda: view.faster(1))
    on(("n", "N", "pagedown", "right"), lambda: view.turn(1))
    on(("p", "P", "pageup", "left"), lambda: view.turn(-1))
    on(("g", "G", "home"), lambda: view.go(0))
    on(("l", "L", "end"), lambda: view.go(None))
    on(("up",), lambda: view.select(-1))
    on(("down",), lambda: view.select(1))
    on(("o", "O", "enter"), view.open)
    return keys
