"""partition_custom by rows, tuples and negative keys, to streams of other parallelism, and keyed behind it."""

from pyflink.common import Row, Types
from pyflink.datastream import MapFunction

PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
PEOPLE = [Row(name, age) for age, name in enumerate(("ann", "bob", "cem", "dan", "eve", "fay", "gil"))]


class Where(MapFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()
        self.all = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return value[0], self.index, self.all


def build(env):
    people = env.from_collection(PEOPLE, type_info=PERSON)
    by_age = people.partition_custom(lambda age, n: age * age % n, lambda p: p.age)
    by_name = people.partition_custom(lambda name, n: (ord(name[0]) + len(name)) % n, lambda p: p.name)
    return {
        "age": by_age.map(Where()),
        "name of two": by_name.map(Where()).set_parallelism(2),
        "negative": people.partition_custom(lambda key, n: -key % n, lambda p: -p.age).map(Where()),
        "tuple": people.partition_custom(lambda key, n: sum(key) % n, lambda p: (p.age, p.age * 2)).map(Where()),
        "last": people.partition_custom(lambda key, n: n - 1, lambda p: p).map(Where()),
        "keyed": by_age.map(lambda p: (p[1] % 2, 1)).key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1])),
    }


PARALLELISM = (3,)
