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
    """No further split will come."""

    operator_id: str


@dataclass(frozen=True)
class TriggerCheckpoint:
    """Sources: take your positions and emit barrier ``checkpoint_id``."""

    checkpoint_id: int
    timestamp_ms: int
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True)
class OvertakeBarriers:
    """Tasks with inputs: take part in the checkpoint now, and record what comes before its barriers."""

    checkpoint_id: int
    timestamp_ms: int
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True)
class CheckpointComplete:
    """The checkpoint is published."""

    checkpoint_id: int


@dataclass(frozen=True)
class CheckpointAborted:
    """The checkpoint was given up."""

    checkpoint_id: int


@dataclass(frozen=True)
class LimitOutput:
    """What the task at ``target`` (level, partition) has taken of your channels to it, by edge, and how much may be on its way there."""

    target: tuple[int, int]
    taken: dict[int, int]
    window: int | None


@dataclass(frozen=True)
class EventToOperator:
    """An event for one operator, from its coordinator or by way of it. ``epoch``: see ``EventFromOperator``."""

    operator_id: str
    event: Any
    epoch: int


@dataclass(frozen=True)
class ReportProgress:
    """Report how far you are with the checkpoint under way, also from the midst of a function."""


@dataclass(frozen=True)
class CancelTask:
    """Stop now; emit nothing more."""


@dataclass(frozen=True)
class OpenOutput:
    """Every task that reads what this one sends has connected to it: records may leave."""


@dataclass(frozen=True)
class MasterHeartbeat:
    """The JobMaster's process lives."""


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
    """The task has connected to every task that it reads from."""

    task: TaskKey


@dataclass(frozen=True)
class RequestSplit:
    """A source reader wants another split."""

    task: TaskKey
    operator_id: str


@dataclass(frozen=True)
class RequestCheckpoint:
    """A source asks for a checkpoint at its present position."""

    task: TaskKey


@dataclass(frozen=True)
class AckCheckpoint:
    """The task's part of a checkpoint is durable."""

    task: TaskKey
    checkpoint_id: int
    snapshot: TaskSnapshot


@dataclass(frozen=True)
class InputTaken:
    """What the task at ``place`` (level, partition) has taken of each channel (edge, source), and how much may be on its way in each."""

    task: TaskKey
    place: tuple[int, int]
    taken: dict[tuple[int, int], int]
    window: int | None


@dataclass(frozen=True)
class DeclineCheckpoint:
    """The task could not take its part."""

    task: TaskKey
    checkpoint_id: int
    reason: str


@dataclass(frozen=True)
class TaskFinished:
    """The task has processed all its input; ``snapshot`` is its last state and committables.

    ``missing`` says why the state is not in it, if it is not: no checkpoint can be completed from now on. ``epoch``: the last checkpoint
    that the task has taken part in; what it has sent since then belongs to later ones.
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
    """The task lives; ``metrics`` are name -> value."""

    task: TaskKey
    metrics: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskProgress:
    """How far a task is with the checkpoint under way.

    Attributes:
        task: The task.
        passed: The newest checkpoint of which it has taken its snapshot.
        aligning: The checkpoint of which some barriers have come, 0 for none.
        missing: How many inputs have not delivered that barrier.
        waiting_bytes: What has arrived and is not processed.
        recording: Whether the snapshot is taken and barriers that were overtaken are still to come.
        busy_s: How long the present call of the task's functions has lasted, 0 if none runs.
        in_flight: Bytes sent and not taken yet by (edge, subtask of the receiver), where producers count them.
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

    ``epoch``: the last checkpoint whose barrier had passed the sender. Who receives what was caused by the event processes it behind the
    same barrier: events, which do not travel in the channels, would otherwise come from behind a checkpoint to before it.
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
