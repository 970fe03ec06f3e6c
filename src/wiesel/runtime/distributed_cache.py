"""Internal. Distributed cache: files registered by name, with their local paths."""

from __future__ import annotations

from collections.abc import Mapping

from wiesel.core.errors import ProgramError

__all__ = ["DistributedCache", "set_cached_files"]

_files: dict[str, str] = {}


def set_cached_files(files: Mapping[str, str]) -> dict[str, str]:
    """Set the paths of the job's files by name; return the previous ones."""
    before = dict(_files)
    _files.clear()
    _files.update(files)
    return before


class DistributedCache:
    """Access to files distributed by ``env.register_cached_file``."""

    def get_file(self, name: str) -> str:
        """Return the path of a local file or directory, which must not be changed.

        Raises:
            ProgramError: If no file was registered under this name.
        """
        if name not in _files:
            known = ", ".join(sorted(_files)) or "nothing"
            raise ProgramError(f"no cached file {name!r}; registered: {known}", hint=f"call env.register_cached_file(path, {name!r})")
        return _files[name]
