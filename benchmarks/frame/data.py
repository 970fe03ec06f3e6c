"""Input files, made once and kept in the cache."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from frame.peers import CACHE

LINE_BYTES = 100


def lines_of_100_bytes(records: int, files: int) -> Path:
    """Return a folder of text files with this many lines of 100 bytes in all, each beginning with its number in ten digits.

    The files are one file under several names, so a line's number is below ``records / files``; ``records`` is divisible by ``files``.
    """
    folder = CACHE / "data" / f"lines-{records}-{files}"
    if folder.exists():
        return folder
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    first = part / "0.txt"
    padding = "abcdefghijklmnopqrstuvwxyz,0123456789" * 3
    with first.open("w") as stream:
        for begin in range(0, records // files, 100_000):
            end = min(begin + 100_000, records // files)
            stream.write("".join(f"{number:010d},{padding}"[: LINE_BYTES - 1] + "\n" for number in range(begin, end)))
    for number in range(1, files):
        os.link(first, part / f"{number}.txt")
    part.rename(folder)
    return folder
