"""The kind of a provider's error is shown to players, so it is a word or none of the provider's own."""

from __future__ import annotations

import pytest

from saga_backends.provider_error import Blame


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("insufficient_quota", "insufficient_quota"),
        ("UNAVAILABLE", "UNAVAILABLE"),
        ("ant-upstreamSECRETSECRET", "rate_limit_error"),
        ("http://127.0.0.1:19799/v1?key=x", "rate_limit_error"),
        ("c2stc2VjcmV0LWtleQ==", "rate_limit_error"),
        ("AIzaGoogleSECRETSECRETSECRET", "rate_limit_error"),
        ("gsk_other_key_of_a_provider", "rate_limit_error"),
        ("SECRETSECRET", "rate_limit_error"),
        (7, "rate_limit_error"),
    ],
)
def test_only_a_word_is_passed_on(told: object, shown: str) -> None:
    blame = Blame("p", "host", 10.0, ("sk-secret-key", "AIzaGoogleSECRETSECRETSECRET"))
    assert blame.refused(429, {"error": {"message": "no", "type": told}}, {}).kind == shown
