"""Internal. Shipping of user code by value: the program and modules next to it need not be installed on the workers.

Records may be instances of the program's classes. So that they can be pickled by reference, as fast as any other, all classes of the
program are sent to every worker and installed there under their module's name.
"""

from __future__ import annotations

import pickle
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import cloudpickle

from wiesel.core import code_pickling
from wiesel.core.logs import get_logger
from wiesel.core.user_frames import is_engine, is_library

_log = get_logger("wiesel.code")


def beside_the_program(module: ModuleType) -> bool:
    """Return whether a module belongs to the program: it has a file, which is neither installed nor Wiesel's."""
    file = getattr(module, "__file__", None)
    return bool(file) and module.__name__ != "__main__" and _is_of_the_program(str(file))


@cache
def _is_of_the_program(file: str) -> bool:
    # Cached, as it is called for all modules at each start, and resolving a path takes long.
    path = str(Path(file).resolve())
    return path.endswith(".py") and not is_engine(path) and not is_library(path)


def ship_program_modules() -> None:
    """Let cloudpickle ship the program's modules by value; called before each start, as programs import more."""
    known = cloudpickle.list_registry_pickle_by_value()
    # Copying a dict is atomic; listing its items is not, and other threads import modules meanwhile.
    for name, module in sys.modules.copy().items():
        if name not in known and beside_the_program(module):
            cloudpickle.register_pickle_by_value(module)


def program_classes() -> bytes:
    """Return the classes of the program and of modules next to it, for ``install_program_classes``.

    Classes that cannot be pickled are omitted: they are likely of no use to the workers.
    """
    modules = [m for n, m in sys.modules.copy().items() if n == "__main__" or n in cloudpickle.list_registry_pickle_by_value()]
    classes: list[bytes] = []
    for module in modules:
        for value in vars(module).copy().values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                try:
                    classes.append(code_pickling.dumps(value))
                except Exception as error:  # noqa: BLE001 - anything may be wrong with a class that no record uses
                    _log.debug("class %s is not sent to the workers: %s", value, error)
    return pickle.dumps(classes, 5)


def install_program_classes(pickled: bytes) -> None:
    """Make the program's classes importable in this worker process under their own names."""
    for item in pickle.loads(pickled):
        cls = pickle.loads(item)
        module = sys.modules.get(cls.__module__)
        if module is None:
            module = sys.modules[cls.__module__] = ModuleType(cls.__module__)
            _install_package(cls.__module__.partition(".")[0])
        setattr(module, cls.__name__, cls)


def _install_package(name: str) -> None:
    """Make a missing top-level package importable: pickling a class by reference imports the package of its module."""
    if name not in sys.modules and find_spec(name) is None:
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = []
