"""The JSON object in an answer, whatever stands around it."""

from __future__ import annotations

import pytest

from saga_core.model_calls import Unusable, read_object


@pytest.mark.parametrize(
    "text",
    [
        '{"hp": 5}',
        'Sure!\n```json\n{"hp": 5}\n```\nDone.',
        '바뀐 것은 {"hp": 5} 입니다.',
        '{"hp": 5,}',
        '<think>{"hp": 9}</think>{"hp": 5}',
        'He said {hello} and {} then {"hp": 5} {"hp": 7}',
        '[{"hp": 5}]',
    ],
)
def test_the_first_object_is_found(text: str) -> None:
    assert read_object(text) == {"hp": 5}


@pytest.mark.parametrize("text", ["{}", " ```json\n{ }\n``` ", "<think>hm</think>{}"])
def test_an_empty_object_alone_is_one(text: str) -> None:
    assert read_object(text) == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "there is no JSON object in it"),
        ("없습니다.", "there is no JSON object in it"),
        ('{"hp": ', "its JSON cannot be read"),
        ("nothing: {}", "its JSON cannot be read"),
        ("{" * 60_001, "it has 60001 characters"),
        ("[" * 30_000 + "{" * 20_000, "its JSON cannot be read"),
    ],
)
def test_why_nothing_can_be_read_is_told(text: str, why: str) -> None:
    with pytest.raises(Unusable, match=why):
        read_object(text)


def test_an_object_in_a_damaged_one_is_better_than_none() -> None:
    assert read_object('{"a": x, "b": {"hp": 5}}') == {"hp": 5}


def test_half_an_emoji_becomes_a_sign_that_can_be_stored() -> None:
    found = read_object('{"text": "x\\ud83d", "\\udc00": ["\\ud83d\\ude00", {"a": "\\ud800"}]}')
    assert found == {"text": "x\ufffd", "\ufffd": ["\U0001f600", {"a": "\ufffd"}]}
