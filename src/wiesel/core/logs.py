"""Internal. Loggers that mask secrets."""

from __future__ import annotations

import logging

from wiesel.core.secrets import without_secrets

__all__ = ["get_logger"]


class _Masking(logging.Filter):
    """Masks the secrets in records that are going to be handled; records below the logger's level are not passed to filters."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask message and traceback."""
        record.msg, record.args = without_secrets(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            # Formatters use this attribute if it is set.
            record.exc_text = without_secrets(logging.Formatter().formatException(record.exc_info))
        return True


_MASKING = _Masking()


def get_logger(name: str) -> logging.Logger:
    """Return the logger of that name, which masks passwords, keys and secrets in its records, whatever the handlers."""
    logger = logging.getLogger(name)
    logger.addFilter(_MASKING)  # idempotent, as it is a singleton
    return logger
