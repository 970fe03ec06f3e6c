"""PyFlink's name of the module of :class:`ChangelogMode`."""

from __future__ import annotations

from wiesel.spi.table.changelog_mode import ChangelogMode

__all__ = ["ChangelogMode"]
