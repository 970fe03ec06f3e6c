"""Custom serializers, for namespaces of windows and for state."""

from wiesel.types.serializers import TypeSerializer, VoidNamespaceSerializer

__all__ = ["TypeSerializer", "VoidNamespaceSerializer"]
