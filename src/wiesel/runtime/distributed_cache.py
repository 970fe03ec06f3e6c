"""Internal. The files that a program registered by name, as this process finds them."""

from __future__ import annotations

from collections.abc import Mapping

from wiesel.core.errors import ProgramError

__all__ = ["DistributedCache", "set_cached_files"]

_files: dict[str, str] = {}


def set_cached_files(files: Mapping[str, str]) -> dict[str, str]:
    """Say where the files of the job are, by name; return what held before."""
    before = dict(_files)
    _files.clear()
    _files.update(files)
    return before


class DistributedCache:
    """Finds files that ``env.register_cached_file`` has brought to the workers."""

    def get_file(self, name: str) -> str:
        """Return the path of a file or directory on this machine; what it holds must not be changed.

        Raises:
            ProgramError: nothing was registered under this name.
        """
        if name not in _files:
            known = ", ".join(sorted(_files)) or "nothing"
            raise ProgramError(f"no cached file {name!r}; registered: {known}", hint=f"call env.register_cached_file(path, {name!r})")
        return _files[name]
