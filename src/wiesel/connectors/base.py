"""Parts common to all connectors."""

from __future__ import annotations

from enum import Enum

__all__ = ["DeliveryGuarantee"]


class DeliveryGuarantee(Enum):
    """The guarantee of a sink for each record after failures.

    EXACTLY_ONCE: each record is written once. AT_LEAST_ONCE: records may be repeated. NONE: records may be lost or repeated.
    """

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2
