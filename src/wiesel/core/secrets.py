"""Internal. Masking of secrets in settings and messages."""

from __future__ import annotations

import re

__all__ = ["HIDDEN", "is_secret", "without_secrets"]

HIDDEN = "******"
_WORDS = ("password", "passwd", "secret", "apikey", "api-key", "auth-params", "service-key", "token", "basic-auth", "jaas.config")
_IN_URL = re.compile(r"""(\b[a-zA-Z][\w+.-]*://[^\s:/@"'?#]*:)[^\s/@"']+(?=@)""")
_NAMED = re.compile(
    r"""(?ix) ( \b[\w.-]* (?:password|passwd|secret|api[-_]?key|access[-_]?key|auth[-_]?token) [\w.-]* ["']?
    (?: \s* = \s* ["']? | \s* : \s* ["'] | : (?=[^\s:]) ) ) [^\s"'&,;)}\]]+"""
)


def is_secret(key: str) -> bool:
    """Return whether the value of a setting must not be shown."""
    return any(word in key.lower() for word in _WORDS)


def without_secrets(text: str) -> str:
    """Return a string with passwords in URLs, and values named password, secret or key (``password=...``, ``apikey:...``), masked."""
    if "@" in text:
        text = _IN_URL.sub(rf"\1{HIDDEN}", text)
    return _NAMED.sub(rf"\1{HIDDEN}", text) if ":" in text or "=" in text else text
