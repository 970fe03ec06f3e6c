"""Records PyFlink's public names in ``pyflink_names.jsonl``; run it with the Python of a PyFlink installation."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from describe import describe_module, modules  # noqa: E402


@functools.cache
def starred(module: str) -> set[str]:
    """Return the names that ``from pyflink.module import *`` gives."""
    found: dict[str, object] = {}
    exec(f"from pyflink.{module} import *", found)  # noqa: S102 - the statement is what is asked about
    return set(found)


def main() -> None:
    """Write the file."""
    told = {name: describe_module("pyflink", name) for name in modules("pyflink")}
    version = importlib.metadata.version("apache-flink")
    with (HERE / "pyflink_names.jsonl").open("w") as file:
        for module, names in told.items():
            for name, description in names.items():
                place = {"version": version, "module": module, "name": name, "starred": name in starred(module)}
                file.write(json.dumps({**place, **description}) + "\n")


if __name__ == "__main__":
    main()
