"""A row built by keywords in another order than the declared fields."""

from pyflink.common import Row, Types


def build(env):
    kind = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.STRING()])
    return env.from_collection([1, 2], type_info=Types.INT()).map(lambda n: Row(age=f"age {n}", name=f"name {n}"), output_type=kind)
