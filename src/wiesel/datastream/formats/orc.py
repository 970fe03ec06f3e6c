"""ORC: the names of ``pyflink.datastream.formats.orc``."""

from wiesel.core.lazy_names import lazy_names

_NAMES = ("OrcBulkWriters",)

__getattr__, __dir__, __all__ = lazy_names(__name__, dict.fromkeys(_NAMES, "wiesel.formats.orc"))
