"""Internal. Import hook for PyFlink's module names: ``pyflink.datastream`` *is* ``wiesel.datastream``.

Both names refer to the same module object, so classes are identical whichever way they were imported, and pickles refer to ``wiesel...``.
:func:`install` is called by ``wiesel run`` and, through :mod:`wiesel.core.hooks`, by every worker process of its jobs. Otherwise ``import
pyflink`` has its usual meaning: an installed PyFlink is never hidden implicitly.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from wiesel.core import hooks
from wiesel.core.errors import ConfigurationError

__all__ = ["WORKER_INITIALIZER", "install", "is_installed", "uninstall"]

WORKER_INITIALIZER = "wiesel.platform.pyflink_hook:install"

_ALIAS = "pyflink"
_TARGET = "wiesel"

# Public in both PyFlink and Wiesel. Wiesel's inner packages must not be reachable as pyflink.*.
_PUBLIC = ("common", "datastream", "metrics", "table")

# Locations of public names that PyFlink has in internal modules.
_MOVED = {"util.exceptions": "spi.table.catalog_errors"}
_EMPTY = {name.rpartition(".")[0] for name in _MOVED}
# Inner packages below public ones.
_INTERNAL = {"table": ("catalogs", "query", "statements")}

# Internal packages of PyFlink, and their replacements.
_MACHINERY = {
    "java_gateway": "there is no gateway to a JVM: what it was used for has to be written in Python",
    "fn_execution": "user functions run in Spark's Python workers, with no counterpart of Beam's harness",
    "gen_protos": "user functions run in Spark's Python workers, with no counterpart of Beam's harness",
    "pyflink_gateway_server": "jobs start with no gateway server; `wiesel run` or plain Python starts them",
    "find_flink_home": "there is no Flink home: Wiesel is the Python package alone",
    "util": "it is internal to PyFlink but for util.exceptions; use Wiesel's public packages",
    "testing": "it is internal to PyFlink; wiesel.testing is the public test harness",
}

_CONNECTOR = "there is no connector for {}: write a source or sink against wiesel.spi, or read and write files (file_system)."
# Missing modules, and their replacements.
_INSTEAD = {
    "pyflink.table.descriptors": "describe tables with TableDescriptor and Schema of pyflink.table: column_by_expression() and "
    "watermark() replace Rowtime.",
    "pyflink.table.functions": "call the functions by pyflink.table.expressions or in SQL, where they are built in.",
    "pyflink.table.serializers": "convert tables by to_arrow(), to_pandas() and from_pandas().",
    "pyflink.table.utils": "convert tables by to_arrow(), to_pandas() and from_pandas().",
    "pyflink.common.io": "read files with FileSource and its formats (pyflink.datastream.connectors.file_system).",
    "pyflink.common.utils": "use the classes of pyflink.common; there are no Java objects behind them.",
    "pyflink.datastream.utils": "collect() and execute_and_collect() return values of Python; there is nothing to convert.",
    "pyflink.shell": "start the prompt with `wiesel shell`.",
    **{
        f"pyflink.datastream.connectors.{module}": _CONNECTOR.format(system)
        for module, system in (
            *(("kafka", "Kafka"), ("dynamic_kafka", "Kafka"), ("jdbc", "JDBC"), ("pulsar", "Pulsar"), ("rabbitmq", "RabbitMQ")),
            *(("cassandra", "Cassandra"), ("elasticsearch", "Elasticsearch"), ("kinesis", "Kinesis")),
        )
    },
}


class _AliasLoader(Loader):
    """Loads a module by giving out the one of Wiesel."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._target)
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just set the alias's spec on the module, which would break relative imports in it.
        module.__spec__ = self._own_spec


class _PyFlinkFinder(MetaPathFinder):
    """Finds ``pyflink`` and its submodules; leaves all other names to the next finders."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != _ALIAS and not fullname.startswith(_ALIAS + "."):
            return None
        inner = fullname[len(_ALIAS) + 1 :]
        if inner and not _exists(inner):
            # Not None: the next finders would search Wiesel's folders and load its modules a second time.
            raise ModuleNotFoundError(_missing_text(fullname, inner), name=fullname)
        if inner in _EMPTY:
            return ModuleSpec(fullname, None, is_package=True)
        wiesel_name = f"{_TARGET}.{_MOVED.get(inner, inner)}" if inner else _TARGET
        return ModuleSpec(fullname, _AliasLoader(wiesel_name), origin=wiesel_name)


def _exists(inner: str) -> bool:
    """Return whether a public module of Wiesel has this name below ``wiesel``, or replaces one."""
    if inner in _MOVED or inner in _EMPTY:
        return True
    top, *below = inner.split(".")
    if top not in _PUBLIC or (below and below[0] in _INTERNAL.get(top, ())):
        return False
    try:
        return importlib.util.find_spec(f"{_TARGET}.{inner}") is not None
    except ModuleNotFoundError:
        return False


def _missing_text(fullname: str, inner: str) -> str:
    top = inner.split(".", 1)[0]
    text = f"Wiesel has no counterpart of {fullname}"
    if top in _MACHINERY:
        return f"{text}: {_MACHINERY[top]}."
    if fullname in _INSTEAD:
        return f"{text}.\n  what to do: {_INSTEAD[fullname]}"
    parent = inner.rpartition(".")[0]
    siblings = _children(parent)
    near = difflib.get_close_matches(inner.rpartition(".")[2], siblings, n=1)
    hint = f"did you mean {_ALIAS}.{parent + '.' if parent else ''}{near[0]}? Otherwise {_way_out(top)}" if near else _way_out(top)
    have = f" {_ALIAS}{'.' + parent if parent else ''} has: {', '.join(siblings)}." if siblings else ""
    return f"{text}.{have}\n  what to do: {hint}"


def _way_out(top: str) -> str:
    if top == "table":
        return "write the job with pyflink.datastream; docs/coverage.md of the project lists what is there."
    return "docs/coverage.md of the project lists what is there; a source or sink can be written against wiesel.spi."


def _children(inner: str) -> list[str]:
    """Names of the public modules right below ``wiesel.<inner>``."""
    if not inner:
        return [name for name in _PUBLIC if _exists(name)]
    try:
        spec = importlib.util.find_spec(f"{_TARGET}.{inner}")
    except ModuleNotFoundError:
        return []
    places = (spec.submodule_search_locations or []) if spec is not None else []
    names = [module.name for module in pkgutil.iter_modules(places) if not module.name.startswith("_")]
    return sorted(name for name in names if name not in _INTERNAL.get(inner, ()))


def is_installed() -> bool:
    """Return whether ``pyflink`` refers to Wiesel in this process."""
    return any(isinstance(finder, _PyFlinkFinder) for finder in sys.meta_path)


def install() -> None:
    """Alias ``pyflink...`` to ``wiesel...`` in this process and in the workers of its jobs. Idempotent.

    Raises:
        ConfigurationError: If a real PyFlink has been imported, so that its classes and Wiesel's would be mixed.
    """
    if is_installed():
        return
    real = sys.modules.get(_ALIAS)
    if real is not None and real is not sys.modules.get(_TARGET):
        raise ConfigurationError(
            f"PyFlink is already imported in this process, from {getattr(real, '__file__', 'an unknown place')}",
            hint="install the hook before anything imports pyflink; `wiesel run program.py` does so",
        )
    sys.meta_path.insert(0, _PyFlinkFinder())
    hooks.add_worker_initializer(WORKER_INITIALIZER)


def uninstall() -> None:
    """Undo :func:`install`: forget the finder and the modules that were imported by PyFlink's names."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _PyFlinkFinder)]
    for name, module in list(sys.modules.items()):
        if name == _ALIAS or name.startswith(_ALIAS + "."):
            own = getattr(module, "__name__", "")
            empty = name[len(_ALIAS) + 1 :] in _EMPTY and getattr(module, "__file__", None) is None
            if own == _TARGET or own.startswith(_TARGET + ".") or empty:
                del sys.modules[name]
