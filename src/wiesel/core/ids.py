"""Internal. Names for ids and special values."""

from __future__ import annotations

from typing import NewType

OperatorId = NewType("OperatorId", str)
"""32 hex digits, stable over runs of the same program (from the uid, or from the operator's position in the graph)."""

VertexId = NewType("VertexId", str)
"""The id of a chain: that of its head operator."""

CheckpointId = NewType("CheckpointId", int)
KeyGroup = NewType("KeyGroup", int)

MIN_TIMESTAMP = -(2**63)
"""Flink's Long.MIN_VALUE: no timestamp, and the initial watermark."""

MAX_TIMESTAMP = 2**63 - 1
"""Flink's Long.MAX_VALUE: the final watermark of a bounded input."""
