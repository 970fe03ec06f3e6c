"""Text from a socket."""

from wiesel.core.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {"SocketSource": "wiesel.connectors.socket_source"})
