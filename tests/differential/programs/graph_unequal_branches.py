"""A diamond whose branches are of unequal length and parallelism, with side outputs on one of them."""

from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction

DROPPED = OutputTag("dropped", Types.INT())


class Sieve(ProcessFunction):
    def __init__(self, prime):
        self.prime = prime

    def process_element(self, value, ctx):
        if value % self.prime == 0 and value != self.prime:
            yield DROPPED, value
        else:
            yield value


def build(env):
    numbers = env.from_collection(list(range(2, 60)), type_info=Types.INT())
    twos = numbers.process(Sieve(2), output_type=Types.INT())
    threes = twos.rebalance().process(Sieve(3), output_type=Types.INT()).set_parallelism(3)
    fives = threes.shuffle().process(Sieve(5), output_type=Types.INT()).set_parallelism(1)
    primes = fives.rescale().process(Sieve(7), output_type=Types.INT()).set_parallelism(2)
    sieves = (twos, threes, fives, primes)
    dropped = sieves[0].get_side_output(DROPPED).union(*(s.get_side_output(DROPPED) for s in sieves[1:]))
    return {
        "primes": primes,
        "dropped": dropped,
        "all": numbers.union(dropped.map(lambda n: -n, output_type=Types.INT()).set_parallelism(2)),
        "per digit": dropped.key_by(lambda n: n % 10).map(lambda n: 1).set_parallelism(3),
    }


PARALLELISM = (2,)
