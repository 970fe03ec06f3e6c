"""Internal. Names for the integers and strings that mean something."""

from __future__ import annotations

from typing import NewType

OperatorId = NewType("OperatorId", str)
"""32 hex digits, stable over runs of the same program (from the uid, or from the operator's place in the graph)."""

VertexId = NewType("VertexId", str)
"""The id of a chain: that of its head operator."""

CheckpointId = NewType("CheckpointId", int)
KeyGroup = NewType("KeyGroup", int)

MIN_TIMESTAMP = -(2**63)
"""Flink's Long.MIN_VALUE: no timestamp, and the watermark before the first one."""

MAX_TIMESTAMP = 2**63 - 1
"""Flink's Long.MAX_VALUE: the watermark at the end of a bounded input."""
