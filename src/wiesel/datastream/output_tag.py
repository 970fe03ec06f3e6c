"""Side outputs: the names of ``pyflink.datastream.output_tag``."""

from wiesel.spi.output_tag import OutputTag

__all__ = ["OutputTag"]
