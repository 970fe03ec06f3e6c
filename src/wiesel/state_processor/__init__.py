"""State of retained checkpoints as data: read it as rows, Arrow or a Spark DataFrame, and create checkpoints from data.

The names are those of Flink's State Processor API. See docs/state-processor.md.
"""

from wiesel.state_processor.functions import (
    BroadcastStateBootstrapFunction,
    KeyedStateBootstrapFunction,
    KeyedStateReaderFunction,
    StateBootstrapFunction,
)
from wiesel.state_processor.operators import OperatorIdentifier, OperatorOverview, StateOverview
from wiesel.state_processor.reader import KeyedTimer, SavepointReader, WindowContents
from wiesel.state_processor.rows import StateRows
from wiesel.state_processor.transformation import OperatorTransformation, StateBootstrapTransformation
from wiesel.state_processor.writer import SavepointWriter

__all__ = [
    "BroadcastStateBootstrapFunction",
    "KeyedStateBootstrapFunction",
    "KeyedStateReaderFunction",
    "KeyedTimer",
    "OperatorIdentifier",
    "OperatorOverview",
    "OperatorTransformation",
    "SavepointReader",
    "SavepointWriter",
    "StateBootstrapFunction",
    "StateBootstrapTransformation",
    "StateOverview",
    "StateRows",
    "WindowContents",
]
