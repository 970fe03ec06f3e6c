"""Repetition of tests under many seeds, which represent possible orders of events in a real job."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any

from wiesel.core.argument_checks import require_count
from wiesel.core.user_location import program_error

__all__ = ["for_seeds"]

SEEDS_VARIABLE = "WIESEL_TEST_SEEDS"


def for_seeds(seeds: int | Iterable[int]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for tests that take a ``seed``: the test is run once per seed.

    ::

        @for_seeds(50)
        def test_totals_do_not_depend_on_the_order_of_events(seed):
            env = local_environment(parallelism=2, seed=seed)
            ...

    A failure reports its seed; setting the environment variable ``WIESEL_TEST_SEEDS`` to it (or to several, separated by commas) runs only
    that one.

    Args:
        seeds: The seeds, or their number: ``50`` stands for 0 to 49.

    Raises:
        AssertionError: From the test, with the seed and the error; the error is its cause.
    """
    given = range(require_count(seeds, "the number of seeds")) if isinstance(seeds, int) else list(seeds)
    if not given:
        raise program_error("for_seeds() got no seeds", "give a number, or some seeds")

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        if "seed" not in signature.parameters:
            raise program_error(f"{test.__name__} takes no seed", "give it a parameter `seed`, and hand it to local_environment(seed=seed)")

        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> None:
            for seed in _chosen(given):
                try:
                    test(*args, seed=seed, **kwargs)
                except Exception as error:
                    raise AssertionError(
                        f"{test.__name__} failed with seed {seed} ({SEEDS_VARIABLE}={seed} runs it alone): {type(error).__name__}: {error}"
                    ) from error

        # Test runners inspect the signature for fixtures; the seed is not one.
        without = [parameter for name, parameter in signature.parameters.items() if name != "seed"]
        run.__signature__ = signature.replace(parameters=without)  # type: ignore[attr-defined]
        return run

    return decorate


def _chosen(given: Iterable[int]) -> Iterable[int]:
    text = os.environ.get(SEEDS_VARIABLE)
    if not text:
        return given
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise program_error(f"{SEEDS_VARIABLE} is {text!r}", "set it to a seed, or to several with commas between") from error
