"""A stream keyed by one thing and then by another, with reductions of reductions."""

from pyflink.common import Types

WORDS = "the quick brown fox jumps over the lazy dog and the slow brown bear sleeps under the old tree".split()
COUNT = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()])


def more(a, b):
    return a[0], a[1] + b[1], max(a[2], b[2])


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    words = env.from_collection(WORDS, type_info=Types.STRING())
    counts = words.map(lambda w: (w, 1, len(w)), output_type=COUNT).key_by(lambda c: c[0], key_type=Types.STRING()).reduce(more)
    letters = counts.map(lambda c: (c[0][0], c[1], c[2]), output_type=COUNT).key_by(lambda c: c[0]).reduce(more)
    lengths = letters.map(lambda c: ("all", 1, c[2]), output_type=COUNT).key_by(lambda c: c[0]).reduce(more)
    return {
        "counts": counts,
        "letters": letters,
        "lengths": lengths,
        "same key": words.key_by(len).key_by(lambda w: w[0]).map(lambda w: w).set_parallelism(parallelism),
    }


PARALLELISM = (1,)
