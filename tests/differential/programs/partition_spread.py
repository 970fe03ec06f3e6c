"""rebalance, rescale and shuffle lose and repeat nothing, also between operators of different parallelism."""

from pyflink.common import Types


def build(env):
    numbers = env.from_collection(list(range(20)), type_info=Types.INT())
    three = numbers.map(lambda x: x).set_parallelism(3)
    return {
        "rebalance": numbers.rebalance().map(lambda x: x),
        "rescale": numbers.rescale().map(lambda x: x),
        "shuffle": numbers.shuffle().map(lambda x: x),
        "3 rebalance 2": three.rebalance().map(lambda x: x).set_parallelism(2),
        "3 rescale 2": three.rescale().map(lambda x: x).set_parallelism(2),
        "3 shuffle 4": three.shuffle().map(lambda x: x).set_parallelism(4),
        "2 rescale 4": numbers.map(lambda x: x).set_parallelism(2).rescale().map(lambda x: x).set_parallelism(4),
        "3 broadcast 2": three.broadcast().map(lambda x: x).set_parallelism(2),
    }
