"""Internal. Messages between the JobMaster and its tasks. Plain picklable data; ``task`` is (vertex index, subtask index)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from wiesel.checkpoint.snapshot import TaskSnapshot
from wiesel.wire.events import SavepointOptions

TaskKey: TypeAlias = tuple[int, int]


# From the JobMaster to a task.


@dataclass(frozen=True)
class AssignSplits:
    """New splits for a source subtask."""

    operator_id: str
    splits: list[Any]


@dataclass(frozen=True)
class NoMoreSplits:
    """No further splits will be assigned."""

    operator_id: str


@dataclass(frozen=True)
class TriggerCheckpoint:
    """Create a source snapshot its positions and emit barrier ``checkpoint_id``."""

    checkpoint_id: int
    timestamp_ms: int
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True)
class OvertakeBarriers:
    """Create a task with inputs take part in the checkpoint now, and record the data before its barriers."""

    checkpoint_id: int
    timestamp_ms: int
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True)
class CheckpointComplete:
    """The checkpoint is published."""

    checkpoint_id: int


@dataclass(frozen=True)
class CheckpointAborted:
    """The checkpoint was aborted."""

    checkpoint_id: int


@dataclass(frozen=True)
class LimitOutput:
    """The credit of the task at ``target`` (level, partition) for the channels to it: bytes consumed by edge, and the limit in flight."""

    target: tuple[int, int]
    taken: dict[int, int]
    window: int | None


@dataclass(frozen=True)
class EventToOperator:
    """An event for one operator, sent or relayed by its coordinator. ``epoch``: see ``EventFromOperator``."""

    operator_id: str
    event: Any
    epoch: int


@dataclass(frozen=True)
class ReportProgress:
    """Request the progress of the pending checkpoint, answered even while a user function runs."""


@dataclass(frozen=True)
class CancelTask:
    """Stop immediately; emit nothing more."""


@dataclass(frozen=True)
class OpenOutput:
    """All consumers of the task have connected to it: records may be sent."""


@dataclass(frozen=True)
class MasterHeartbeat:
    """The JobMaster's process is alive."""


# From a task to the JobMaster.


@dataclass(frozen=True)
class RegisterTask:
    """The task runs in process ``pid`` on ``host``."""

    task: TaskKey
    attempt: int
    pid: int
    host: str
    executor: str = ""


@dataclass(frozen=True)
class InputConnected:
    """The task has connected to all of its producers."""

    task: TaskKey


@dataclass(frozen=True)
class RequestSplit:
    """A source reader requests another split."""

    task: TaskKey
    operator_id: str


@dataclass(frozen=True)
class RequestCheckpoint:
    """A source requests a checkpoint at its present position."""

    task: TaskKey


@dataclass(frozen=True)
class AckCheckpoint:
    """The task's part of a checkpoint is durable."""

    task: TaskKey
    checkpoint_id: int
    snapshot: TaskSnapshot


@dataclass(frozen=True)
class InputTaken:
    """Bytes that the task at ``place`` (level, partition) has consumed of each channel (edge, source), and the limit in flight of each."""

    task: TaskKey
    place: tuple[int, int]
    taken: dict[tuple[int, int], int]
    window: int | None


@dataclass(frozen=True)
class DeclineCheckpoint:
    """The task could not take part in the checkpoint."""

    task: TaskKey
    checkpoint_id: int
    reason: str


@dataclass(frozen=True)
class TaskFinished:
    """The task has processed all its input; ``snapshot`` is its last state and committables.

    ``missing``: the reason if the state is not included; no checkpoint can be completed from now on. ``epoch``: the last checkpoint that
    the task has taken part in; what it has sent since then belongs to later ones.
    """

    task: TaskKey
    snapshot: TaskSnapshot
    missing: str = ""
    epoch: int = 0


@dataclass(frozen=True)
class TaskFailed:
    """The task has failed; ``error`` is picklable."""

    task: TaskKey
    error: BaseException


@dataclass(frozen=True)
class Heartbeat:
    """The task is alive; ``metrics`` are name -> value."""

    task: TaskKey
    metrics: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskProgress:
    """Progress of a task with the pending checkpoint.

    Attributes:
        task: The task.
        passed: The newest checkpoint whose snapshot the task has taken.
        aligning: The checkpoint of which some barriers have arrived, 0 for none.
        missing: Number of inputs that have not delivered that barrier.
        waiting_bytes: Data received and not processed yet.
        recording: True if the snapshot is taken and barriers are still to come (unaligned).
        busy_s: Duration of the present call of a user function, 0 if none runs.
        in_flight: Bytes sent and not consumed yet by (edge, subtask of the receiver), where producers count them.
    """

    task: TaskKey
    passed: int
    aligning: int
    missing: int
    waiting_bytes: int
    recording: bool
    busy_s: float
    in_flight: dict[tuple[int, int], int]


@dataclass(frozen=True)
class ToDriver:
    """Records of a driver sink: a channel name, the epoch (last checkpoint whose barrier has passed the writer) and a payload."""

    task: TaskKey
    channel: str
    epoch: int
    payload: Any


@dataclass(frozen=True)
class EventFromOperator:
    """An event for the coordinator of an operator.

    ``epoch``: the last checkpoint whose barrier had passed the sender. The receiver of a resulting event processes it behind the same
    barrier: events do not travel in the channels, so they could otherwise cross from behind a checkpoint to before it.
    """

    task: TaskKey
    operator_id: str
    event: Any
    epoch: int


ToTask: TypeAlias = (
    AssignSplits
    | NoMoreSplits
    | TriggerCheckpoint
    | OvertakeBarriers
    | LimitOutput
    | CheckpointComplete
    | CheckpointAborted
    | EventToOperator
    | ReportProgress
    | CancelTask
    | OpenOutput
    | MasterHeartbeat
)
FromTask: TypeAlias = (
    RegisterTask
    | InputConnected
    | RequestSplit
    | RequestCheckpoint
    | AckCheckpoint
    | InputTaken
    | DeclineCheckpoint
    | TaskFinished
    | TaskFailed
    | Heartbeat
    | TaskProgress
    | ToDriver
    | EventFromOperator
)
