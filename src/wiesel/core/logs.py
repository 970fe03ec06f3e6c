"""Internal. Loggers whose records hold no secrets."""

from __future__ import annotations

import logging

from wiesel.core.secrets import without_secrets

__all__ = ["get_logger"]


class _Masking(logging.Filter):
    """Replaces the secrets in records that are going to be handled; those below the level of their logger do not come here."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask message and traceback."""
        record.msg, record.args = without_secrets(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            # Formatters take this text where it is set.
            record.exc_text = without_secrets(logging.Formatter().formatException(record.exc_info))
        return True


_MASKING = _Masking()


def get_logger(name: str) -> logging.Logger:
    """Return the logger of that name, which masks passwords, keys and secrets in what is logged with it, whatever handlers there are."""
    logger = logging.getLogger(name)
    logger.addFilter(_MASKING)  # once, as it is the same one
    return logger
