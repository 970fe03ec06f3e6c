"""Hybrid sources: the names of ``pyflink.datastream.connectors.hybrid_source``."""

from wiesel.core.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__, dict.fromkeys(("HybridSource", "HybridSourceBuilder"), "wiesel.connectors.hybrid_source")
)
