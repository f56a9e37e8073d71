"""What servers say when a prompt is longer than their context."""

from __future__ import annotations

import pytest

from saga_server.providers.context_size import ContextRefusal, context_refusal


@pytest.mark.parametrize(
    ("message", "limit", "used"),
    [
        ("the prompt has 9731 tokens and the context 8192", 8192, 9731),
        ("127.0.0.1:8080 answered 400 (the request exceeds the available context size (8192 tokens))", 8192, None),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9731 tokens (9331 in messages, "
            "400 in the completion). Please reduce the length of the messages or completion.",
            8192,
            9731,
        ),
        ("prompt is too long: 208310 tokens > 200000 maximum", 200_000, 208_310),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
            1_200_000,
        ),
        ("Prompt length 9000 is greater than max_seq_len 8192", 8192, 9000),
        (
            "Trying to keep the first 9731 tokens when context overflows. However, the model is loaded with context "
            "length of only 4096 tokens, which is not enough.",
            4096,
            9731,
        ),
        ("input length exceeds maximum context length", None, None),
        ("requested tokens (9,731) exceed context window of 8,192", 8192, 9731),
        ("Prompt length (9731) exceeds maximum context length (8192)", 8192, 9731),
        ("Input length should be between 1 and 30720", 30720, None),
        ("上下文长度9731超过最大上下文长度8192", 8192, 9731),
        ("prompt exceeds the limit, code 2013", None, None),
        ("Prompt exceeds max length (1261)", None, None),
    ],
)
def test_the_numbers_are_read(message: str, limit: int | None, used: int | None) -> None:
    assert context_refusal(message, 400) == ContextRefusal(limit, used)


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("temperature: must be at most 2", 400),
        ("参数 max_tokens 超出范围 [1, 8192]", 400),
        ("model 'tale' not found", 404),
        ("Rate limit reached: 30000 tokens per minute", 429),
        ("invalid role in the context of messages[3]", 400),
        ("upstream error: context deadline exceeded", 502),
        ("context canceled: rate limit of the upstream", 503),
        ("the maximum number of requests is reached", 503),
    ],
)
def test_other_errors_are_no_refusal_of_a_length(message: str, status: int) -> None:
    assert context_refusal(message, status) is None
