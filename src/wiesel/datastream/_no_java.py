"""Internal. Errors for programs that access Java objects through PyFlink."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NoJavaObjects"]


class NoJavaObjects:
    """Explains names such as ``_j_stream_execution_environment``; all other missing names raise as usual."""

    # Type checkers would accept every name.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name.startswith(("_j_", "get_java_")):
                raise AttributeError(
                    f"{type(self).__name__} has no {name}: there are no Java objects behind Wiesel. Set options with "
                    "env.get_config() or Configuration.set_string(key, value), and use the methods of the Python API",
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
