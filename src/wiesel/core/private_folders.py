"""Internal. Folders that only their user can change, and checks of their permissions."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

__all__ = ["make_private_folder", "read_private_file", "why_untrusted"]

_ROOT = 0


def make_private_folder(path: Path) -> None:
    """Create a folder and its missing parents, with mode 0700 whatever the umask."""
    if path.is_dir():
        return
    make_private_folder(path.parent)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return
    path.chmod(0o700)


def why_untrusted(path: Path) -> str:
    """Return the reason why another user could have created files in a folder; empty if impossible, or if there is no such folder.

    Each component of the path and of the targets of symbolic links is checked: all must belong to this user or to root, and must not be
    writable by others unless sticky like the temporary directory. The folder itself must be this user's.
    """
    if not os.path.lexists(path):
        return ""
    lexical, real = Path(os.path.abspath(path)), Path(os.path.realpath(path))
    for component in (*_components(lexical), *_components(real)):
        reason = _reason(component, last=component == real)
        if reason:
            return reason
    return ""


def _components(path: Path) -> Iterator[Path]:
    yield from reversed(path.parents)
    yield path


def _reason(path: Path, *, last: bool) -> str:
    try:
        status = path.lstat()
    except OSError as error:
        return f"{path} cannot be looked at: {error.strerror}"
    if status.st_uid != os.getuid() and (last or status.st_uid != _ROOT):
        return f"{path} belongs to {_user(status.st_uid)}"
    if stat.S_ISLNK(status.st_mode):
        return ""  # its mode has no meaning; its target is checked as well
    if not stat.S_ISDIR(status.st_mode):
        return f"{path} is not a directory"
    open_to = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if last:
        return f"others may write to {path}" if open_to else ""
    if open_to == stat.S_IWGRP and _is_own_group(status.st_gid):
        return ""
    return f"others may write to {path}" if open_to and not status.st_mode & stat.S_ISVTX else ""


def _user(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user {uid}"


def _is_own_group(gid: int) -> bool:
    """Return whether a group only contains the user, as many systems create one for each user."""
    try:
        return gid == os.getgid() and grp.getgrgid(gid).gr_name == pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return False


def read_private_file(path: Path, *, secret: bool = False) -> bytes | None:
    """Return the contents of a file of this user that is not writable by others (``secret``: nor readable); None if it does not exist.

    Raises:
        PermissionError: If it belongs to another user, is a symbolic link, or is writable by others.
        OSError: If it cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        closed = 0o077 if secret else stat.S_IWGRP | stat.S_IWOTH
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & closed:
            raise PermissionError(f"{path} belongs to {_user(status.st_uid)}, with mode {stat.S_IMODE(status.st_mode):04o}")
        return file.read()
