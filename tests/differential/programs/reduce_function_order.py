"""ReduceFunction gets (accumulated, new) in arrival order; open is called."""

from pyflink.common import Types
from pyflink.datastream import ReduceFunction


class Join(ReduceFunction):
    def open(self, runtime_context):
        self.separator = "+"

    def reduce(self, value1, value2):
        return value1[0], value1[1] + self.separator + value2[1]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    values = env.from_collection([(n % 3, str(n)) for n in range(9)], type_info=Types.TUPLE([Types.INT(), Types.STRING()]))
    return values.key_by(lambda v: v[0], key_type=Types.INT()).reduce(Join()).set_parallelism(parallelism)
