"""Text from a socket."""

from wiesel.datastream._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {"SocketSource": "wiesel.connectors.socket_source"})
