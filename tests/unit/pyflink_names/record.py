"""Records PyFlink's public names in ``pyflink_names.jsonl``; run it with the Python of a PyFlink installation."""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from describe import describe_module, modules  # noqa: E402


def main() -> None:
    """Write the file."""
    told = {name: describe_module("pyflink", name) for name in modules("pyflink")}
    (HERE / "pyflink_names.jsonl").write_text(
        "".join(
            json.dumps({"version": importlib.metadata.version("apache-flink"), "module": module, "name": name, **names[name]}) + "\n"
            for module, names in told.items()
            for name in names
        )
    )


if __name__ == "__main__":
    main()
