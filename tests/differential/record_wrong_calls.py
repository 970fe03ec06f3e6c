"""Records which class of exception wrong calls of the API raise in PyFlink, to ``goldens_wrong_calls.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink (``pip install apache-flink==2.3.0``) and a JDK on the path:

    python tests/differential/record_wrong_calls.py

A call that PyFlink accepts is recorded as ``accepted``. Exceptions of Java come as plain ``Exception`` to an ``except`` clause.
"""

from __future__ import annotations

import json
from pathlib import Path

from wrong_calls import calls, classes_raised


def _name(raised: type[Exception] | None) -> str:
    """Return the first class of an exception that a program can name: one of Python or of ``pyflink.util.exceptions``."""
    if raised is None:
        return "accepted"
    named = (base for base in raised.__mro__ if base.__module__ in ("builtins", "pyflink.util.exceptions"))
    return next(base.__name__ for base in named if base.__name__ != "JavaException")


def main() -> None:
    """Record the table."""
    table = {call: _name(raised) for call, raised in classes_raised(calls()).items()}
    path = Path(__file__).with_name("goldens_wrong_calls.json")
    path.write_text(json.dumps(table, indent=0, ensure_ascii=False) + "\n")
    print(len(table), "calls")


if __name__ == "__main__":
    main()
