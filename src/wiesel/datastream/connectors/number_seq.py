"""Sequences of numbers: the names of ``pyflink.datastream.connectors.number_seq``."""

from wiesel.core.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {"NumberSequenceSource": "wiesel.connectors.number_sequence"})
