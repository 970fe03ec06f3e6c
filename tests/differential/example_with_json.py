"""Runs the functions of an example program after it has got the module ``json`` back, which a star import has taken from it."""

from __future__ import annotations

import json
import runpy
import sys
from types import FunctionType


def main(path: str) -> None:
    """Call the functions that the program has, in order."""
    names = runpy.run_path(path, run_name="example")
    own = [value for value in names.values() if isinstance(value, FunctionType) and value.__module__ == "example"]
    for function in own:
        function.__globals__["json"] = json
        function()


if __name__ == "__main__":
    main(sys.argv[1])
