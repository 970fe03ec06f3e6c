"""Chaining on, off, broken at one place or by name and uid: always the same records."""

from pyflink.common import Types


def build(env):
    numbers = env.from_collection(list(range(6)), type_info=Types.INT())

    def steps(change):
        first = change(numbers.map(lambda n: n + 1, output_type=Types.INT()))
        second = change(first.filter(lambda n: n % 2 == 0))
        return change(second.map(lambda n: n * n, output_type=Types.INT()))

    return {
        "default": steps(lambda stream: stream),
        "disabled": steps(lambda stream: stream.disable_chaining()),
        "new chain": steps(lambda stream: stream.start_new_chain()),
        "named": steps(lambda stream: stream.name("a name").set_description("a description")),
        "groups": numbers.map(lambda n: n).slot_sharing_group("other").map(lambda n: n - 1),
    }
