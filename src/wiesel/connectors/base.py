"""Parts common to all connectors."""

from __future__ import annotations

from enum import Enum

__all__ = ["DeliveryGuarantee"]


class DeliveryGuarantee(Enum):
    """The guarantee of a sink for each record after failures.

    EXACTLY_ONCE: it is there once. AT_LEAST_ONCE: it is there, perhaps more often. NONE: it may be lost or repeated.
    """

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2
