"""Two pipelines with nothing in common run in one job."""

from pyflink.common import Types


def build(env):
    numbers = env.from_collection([1, 2, 3], type_info=Types.INT()).map(lambda n: n * n)
    words = env.from_collection(["x", "y"], type_info=Types.STRING()).map(lambda w: (w, 1)).key_by(lambda p: p[0]).sum(1)
    return {"numbers": numbers, "words": words}
