"""Every operator with a parallelism of its own: what is counted stays the same."""

from pyflink.common import Types

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


def build(env):
    words = env.from_collection(["a b", "b c a", "a", "c c c", "d"] * 4, type_info=Types.STRING())
    pairs = words.flat_map(lambda line: [(word, 1) for word in line.split()], output_type=PAIR).set_parallelism(3)
    kept = pairs.filter(lambda pair: pair[0] != "d").set_parallelism(2)
    counts = kept.key_by(lambda pair: pair[0], key_type=Types.STRING()).reduce(lambda a, b: (a[0], a[1] + b[1])).set_parallelism(4)
    return counts.map(lambda pair: f"{pair[0]}={pair[1]}", output_type=Types.STRING()).set_parallelism(1)


MODES = ("STREAMING", "BATCH")
