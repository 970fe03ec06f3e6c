"""Generated records."""

from wiesel.core.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    dict.fromkeys(("DataGeneratorSource", "GeneratorFunction", "RateLimiter", "RateLimiterStrategy"), "wiesel.connectors.datagen.source"),
)
