"""The kind of a provider's error is shown to players, so it is a word or none of the provider's own."""

from __future__ import annotations

import json

import pytest

from saga_backends.chat.gemini import GeminiPieces
from saga_backends.chat.reply import ModelReply
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


@pytest.mark.parametrize("secret", ["abcdefgh12345678wxyz", "abcd-efgh-1234-5678-wxyz"])
@pytest.mark.parametrize(
    "quoted",
    [
        "abcdefgh12345678wxyz",
        "ABCD-EFGH-1234-5678-WXYZ",
        "abcd\u2010efgh\u20111234 5678\u200bwxyz",
        "ａｂｃｄｅｆｇｈ１２３４５６７８ｗｘｙｚ",
        "abcdef...wxyz",
        "abcdef…wxyz",
        "abcd********wxyz",
        "••••wxyz",
        "*****************8wxyz",
    ],
)
def test_a_key_is_hidden_however_it_is_written(secret: str, quoted: str) -> None:
    blame = Blame("p", "host", 10.0, (secret,))
    told = str(blame.refused(401, {"error": {"message": f"bad key <{quoted}>"}}, {})).casefold()
    assert "<(key)>" in told, told


def test_what_is_no_key_is_left_as_it_was_said() -> None:
    blame = Blame("p", "host", 10.0, ("abcdefgh12345678wxyz",))
    for said in ("모델이 없다… abcd로 시작한다", "abcd … 5678", "wait... then ask again", "the ｍodel"):
        assert blame.hide(said) == said


def test_what_google_says_of_the_end_hides_keys_as_an_error_does() -> None:
    secret = "abcdefgh12345678wxyz"
    reply = ModelReply(Blame("p", "host", 10.0, (secret,)), GeminiPieces(index=0))
    candidate = {"content": {"parts": [{"text": "Fog."}]}, "finishReason": "OTHER", "finishMessage": f"key {secret}"}
    parts = [*reply.whole(json.dumps({"candidates": [candidate]}).encode()), *reply.end()]
    assert secret not in str(parts) and "'finishMessage': 'key (key)'" in str(parts)
