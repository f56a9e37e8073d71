"""How a model is held to JSON, and what refusals teach of it."""

from __future__ import annotations

import pytest

from saga_core.model_calls.model_call import JSON_MODE, SCHEMA, WORDS, AnswerFormat

OBJECT = {"type": "object", "properties": {"hp": {"type": "integer"}}}


def test_less_is_asked_for_at_each_level() -> None:
    by_schema = AnswerFormat().params("state", OBJECT)["response_format"]
    assert by_schema == {"type": "json_schema", "json_schema": {"name": "state", "strict": True, "schema": OBJECT}}
    assert AnswerFormat(JSON_MODE).params("state", OBJECT) == {"response_format": {"type": "json_object"}}
    assert AnswerFormat(WORDS).params("state", OBJECT) == {}


@pytest.mark.parametrize(
    "refusal",
    ["Unknown field: response_format", "output_config.format: not allowed", "Invalid SCHEMA", "guided decoding is off"],
)
def test_a_refusal_of_the_form_lowers_it_to_words_and_no_further(refusal: str) -> None:
    form = AnswerFormat()
    assert [form.learned(refusal) for _ in range(3)] == [True, True, False]
    assert form.level == WORDS


def test_any_other_refusal_teaches_nothing() -> None:
    form = AnswerFormat()
    assert not form.learned("the model is overloaded") and form.level == SCHEMA
