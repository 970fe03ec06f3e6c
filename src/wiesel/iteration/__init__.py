"""Bounded iterations: the same step again and again, in rounds, until a number of rounds or a criterion ends it.

* :func:`iterate_bulk`: each round makes all records anew (Flink's bulk iteration).
* :func:`iterate_delta`: a solution set is kept, each round starts from what has changed in it (Flink's delta iteration).

Within a step event time is the number of the round: :func:`each_round` is the window of one round, and an event-time timer for
``ctx.timestamp()`` fires when the function has all records of the round. The how-to is ``docs/iterations.md``.
"""

from wiesel.iteration._bulk import iterate_bulk
from wiesel.iteration._delta import iterate_delta
from wiesel.iteration._rounds import Round, each_round, rounds_of

__all__ = ["Round", "each_round", "iterate_bulk", "iterate_delta", "rounds_of"]
