"""Internal. GROUP BY: groups in state, aggregates of their slots, and the phases in which they are computed."""
