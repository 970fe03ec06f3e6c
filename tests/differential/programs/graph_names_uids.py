"""name, uid, max parallelism and buffer timeout on operators change no result; get_name gives the name back."""

from pyflink.common import Types


def build(env):
    env.set_max_parallelism(16)
    env.set_buffer_timeout(0)
    source = env.from_collection(["a", "b", "a"], type_info=Types.STRING()).name("letters").uid("letters-uid")
    pairs = source.map(lambda w: (w, 1)).name("pairs").uid("pairs-uid").set_buffer_timeout(5).set_max_parallelism(8)
    counts = pairs.key_by(lambda p: p[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).name("counts").uid("counts-uid")
    names = [source.get_name(), pairs.get_name(), counts.get_name(), env.get_max_parallelism()]
    return {"counts": counts, "names": source.map(lambda w: (w, names))}
