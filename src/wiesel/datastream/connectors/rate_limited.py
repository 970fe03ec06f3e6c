"""Sources with a rate limit."""

from wiesel.core.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "RateLimitedSource": "wiesel.connectors.rate_limited",
        **dict.fromkeys(("RateLimiter", "RateLimiterStrategy"), "wiesel.connectors.datagen.source"),
    },
)
