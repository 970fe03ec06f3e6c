"""project picks and reorders tuple fields."""

from pyflink.common import Types


def build(env):
    values = env.from_collection(
        [("a", 1, 1.5, True), ("b", 2, 2.5, False), ("c", 3, 3.5, True)],
        type_info=Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE(), Types.BOOLEAN()]),
    )
    return {
        "two": values.project(2, 0),
        "one": values.project(1),
        "repeated": values.project(0, 0, 3),
        "keyed": values.key_by(lambda v: v[0]).project(1, 2),
        "mapped": values.project(0, 1).map(lambda v: v[0] * v[1]),
    }
