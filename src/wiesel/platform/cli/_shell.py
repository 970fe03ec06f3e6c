"""Internal. ``wiesel shell``: a Python prompt with environments, like PyFlink's ``pyflink.shell``."""

from __future__ import annotations

import code
import importlib
import importlib.util
import platform
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import wiesel
from wiesel.core import config
from wiesel.platform import pyflink_hook

__all__ = ["run_shell"]

_MODULES = ("wiesel.common", "wiesel.datastream", "wiesel.table", "wiesel.table.catalog", "wiesel.table.window", "wiesel.metrics")


def run_shell(options: Mapping[str, str], python_files: Sequence[str] = ()) -> int:
    """Run Python statements until the user leaves; return the exit code.

    Args:
        options: Configuration of the environments.
        python_files: Files and folders to import from.
    """
    pyflink_hook.install()
    config.set_process_defaults(options)
    sys.path[:0] = ["", *python_files]
    main = ModuleType("__main__")
    main.__dict__.update(_names())
    # # Definitions at the prompt belong to __main__, from which they are pickled by value for the workers.
    sys.modules["__main__"] = main
    if importlib.util.find_spec("IPython") is not None:
        _ipython(main)
        return 0
    _load_line_editing(main.__dict__)
    code.interact(_banner(), local=main.__dict__, exitmsg="")
    return 0


def _names() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for name in _MODULES:
        module = importlib.import_module(name)
        names.update({each: getattr(module, each) for each in module.__all__})
    expressions = importlib.import_module("wiesel.table.expressions")
    names.update({each: getattr(expressions, each) for each in ("call", "col", "lit", "row")})
    env = names["StreamExecutionEnvironment"].get_execution_environment()
    batch = names["EnvironmentSettings"].in_batch_mode()
    return names | {
        "env": env,
        "s_env": env,
        "st_env": names["StreamTableEnvironment"].create(env),
        "bt_env": names["TableEnvironment"].create(batch),
    }


def _banner() -> str:
    return f"""\
Wiesel {wiesel.__version__}, Python {platform.python_version()}

  env      the StreamExecutionEnvironment (s_env in PyFlink's shell)
  st_env   a StreamTableEnvironment over env: streaming tables and SQL
  bt_env   a TableEnvironment in batch mode

The names of wiesel.common, wiesel.datastream, wiesel.table and wiesel.metrics are imported; pyflink... can be imported, too.

  env.from_collection([1, 2, 3]).map(lambda n: n * n).print(); env.execute()
  bt_env.sql_query("SELECT a, a * a FROM (VALUES 1, 2, 3) AS t (a)").execute().print()

Ctrl-C cancels the running job; exit() or Ctrl-D leaves.
"""


def _ipython(main: ModuleType) -> None:
    ipython: Any = importlib.import_module("IPython")
    print(_banner())
    ipython.start_ipython(argv=["--no-banner", "--no-confirm-exit"], user_ns=main.__dict__, user_module=main)


def _load_line_editing(names: dict[str, Any]) -> None:
    """Set up completion with Tab and recall with the arrow keys, if Python has readline."""
    try:
        import readline
        import rlcompleter
    except ImportError:
        return
    readline.set_completer(rlcompleter.Completer(names).complete)
    readline.parse_and_bind("tab: complete")
