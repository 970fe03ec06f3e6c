"""Bounded iterations: a step is repeated in rounds, until a maximal number of rounds or a criterion ends it.

* :func:`iterate_bulk`: each round recomputes all records (Flink's bulk iteration).
* :func:`iterate_delta`: each round starts from the changes of a solution set (Flink's delta iteration).

Within a step event time is the number of the round: :func:`each_round` is the window of one round, and an event-time timer for
``ctx.timestamp()`` fires when the function has all records of the round. The how-to is ``docs/iterations.md``.
"""

from wiesel.iteration._bulk import iterate_bulk
from wiesel.iteration._delta import iterate_delta
from wiesel.iteration._rounds import Round, each_round, rounds_of

__all__ = ["Round", "each_round", "iterate_bulk", "iterate_delta", "rounds_of"]
