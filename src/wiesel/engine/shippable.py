"""Internal. Checks before the start that a program's code can be sent to workers."""

from __future__ import annotations

import re
import sys

from wiesel.core import code_pickling
from wiesel.core.errors import SerializationError
from wiesel.core.unpicklable import what_cannot_be_pickled
from wiesel.engine.code_shipping import ship_program_modules
from wiesel.graph.stage_plan import StagePlan
from wiesel.runtime.registry import modules_of

_NAME_OF_OWN_MODULE = re.compile(rb"wiesel(?:\.\w+)+")


def check_shippable(plan: StagePlan) -> list[str]:
    """Pickle every operator's code once, so that unpicklable code is reported before the start.

    Returns:
        Modules of Wiesel referenced by the code, and those of the operators: imported by workers.

    Raises:
        SerializationError: Names the operator and the user's line.
    """
    ship_program_modules()
    named: set[bytes] = set()
    for vertex in plan.graph.job.vertices:
        for operator in vertex.operators:
            try:
                named.update(_NAME_OF_OWN_MODULE.findall(code_pickling.dumps(operator.node.operator.payload)))
            except Exception as error:
                found = what_cannot_be_pickled(operator.node.operator.payload)
                raise SerializationError(
                    f"{operator.node.name} ({operator.node.user_location}) cannot be shipped to the workers: "
                    f"{f'{found}: ' if found else ''}{error.message if isinstance(error, SerializationError) else error}",
                    hint=error.hint
                    if isinstance(error, SerializationError)
                    else "open files, locks and connections in open() of the function, not where it is defined",
                ) from error
    kinds = {operator.node.operator.kind for vertex in plan.graph.job.vertices for operator in vertex.operators}
    return sorted(modules_of(kinds).union(name for name in map(bytes.decode, named) if name in sys.modules))
