"""Asynchronous requests: the country of each visitor's address, asked of a slow service, many at a time.

The service here is a coroutine that sleeps; with an HTTP client it would be the same. It fails now and then, so a request is made up to
three times; for an address of which it knows nothing in time, there is an answer all the same.
"""

from __future__ import annotations

import asyncio

from wiesel.common import Time, Types
from wiesel.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, StreamExecutionEnvironment
from wiesel.datastream.async_retry_predicates import has_exception_predicate

VISITS = [("ada", "192.0.2.17"), ("bob", "198.51.100.4"), ("eve", "203.0.113.99"), ("kim", "192.0.2.80"), ("joe", "10.0.0.1")]
COUNTRIES = {"192.0.2": "Norway", "198.51.100": "Peru", "203.0.113": "Japan"}


class Country(AsyncFunction[tuple[str, str], str]):
    def __init__(self) -> None:
        self.asked: set[str] = set()

    async def ask(self, address: str) -> str:
        await asyncio.sleep(0.05)
        if address.startswith("203.") and address not in self.asked:
            self.asked.add(address)
            raise ConnectionError("the service is busy")
        network = address.rpartition(".")[0]
        if network not in COUNTRIES:
            await asyncio.sleep(60)
        return COUNTRIES[network]

    async def async_invoke(self, value: tuple[str, str]) -> list[str]:
        name, address = value
        return [f"{name} is in {await self.ask(address)}"]

    def timeout(self, value: tuple[str, str]) -> list[str]:
        return [f"{value[0]} is somewhere"]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    visits = env.from_collection(VISITS, Types.TUPLE([Types.STRING(), Types.STRING()]))
    twice_more = AsyncRetryStrategy.fixed_delay(2, 100, None, has_exception_predicate)
    AsyncDataStream.unordered_wait_with_retry(visits, Country(), Time.seconds(2), twice_more, 50, Types.STRING()).print()
    env.execute("enrich")


if __name__ == "__main__":
    main()
