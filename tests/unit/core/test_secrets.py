"""Secrets are not shown, wherever in a text they are."""

from __future__ import annotations

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ConnectorError
from wiesel.core.secrets import without_secrets

SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://user:{SECRET}@host/db",
        f"failed: s3://key:{SECRET}@host:9000/bucket, redis://:{SECRET}@host",
        f"jdbc:mysql://host/db?user=a&password={SECRET}&x=1",
        f"apikey:{SECRET}",
        f"api_key={SECRET}",
        f'{{"api-key": "{SECRET}"}}',
        f"'properties.sasl.password' = '{SECRET}'",
        f"no option --access-key={SECRET}",
        f"PASSWORD={SECRET};Database=d",
    ],
)
def test_passwords_and_keys_in_a_text_are_replaced(text: str) -> None:
    shown = without_secrets(text)
    assert SECRET not in shown and "******" in shown
    assert str(ConnectorError(text)) == shown
    assert SECRET not in str(Configuration().set_string("my.address", text))


@pytest.mark.parametrize(
    "text",
    [
        "http://host:8080/path",
        "s3://bucket/path@version",
        "user@host: no such file",
        "unexpected token: )",
        "option my.password: it is empty",
        "a := b, c: 'd'",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert without_secrets(text) == text
