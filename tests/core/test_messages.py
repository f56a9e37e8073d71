"""The blocks of a prompt: whose each is, and what is sent of it."""

from __future__ import annotations

import pytest

from saga_core.messages import FIXED, OWN, Block, Origin, PromptPlan, Stability, asked_again, flatten, question

PICTURE = {"type": "image_url", "image_url": {"url": "data:a"}}
TEXT = {"type": "text", "text": "봐라"}


@pytest.mark.parametrize("origin", Origin)
def test_only_what_stands_before_the_players_words_keeps_its_bytes(origin: Origin) -> None:
    stable = {Origin.CLIENT, Origin.RULES, Origin.WORLD, Origin.PAGES}
    wanted = (
        Stability.STABLE if origin in stable else Stability.HISTORY if origin is Origin.HISTORY else Stability.VOLATILE
    )
    assert Block("user", "x", origin).stability is wanted


def test_whose_blocks_are_ours_and_which_never_change() -> None:
    assert {Origin.RULES, Origin.WORLD, Origin.PAGES, Origin.CONTEXT} == OWN
    assert {Origin.CLIENT, Origin.RULES, Origin.WORLD} == FIXED
    assert [Block(role, "", Origin.CLIENT).is_system for role in ("system", "developer", "user")] == [True, True, False]


def test_what_leads_stands_before_the_text_in_one_message() -> None:
    plan = PromptPlan(
        (
            Block("user", "가자", Origin.WORDS, {"name": "Mina"}, lead="HP 5"),
            Block("user", "", Origin.WORDS, lead="HP 5"),
            Block("user", (TEXT, PICTURE), Origin.WORDS, lead="HP 5"),
            Block("assistant", (PICTURE,), Origin.HISTORY, breakpoint="5m"),
            Block("assistant", "간다", Origin.HISTORY),
        )
    )
    assert plan.to_openai() == [
        {"role": "user", "content": "HP 5\n\n가자", "name": "Mina"},
        {"role": "user", "content": "HP 5"},
        {"role": "user", "content": [{"type": "text", "text": "HP 5"}, TEXT, PICTURE]},
        {"role": "assistant", "content": [PICTURE]},
        {"role": "assistant", "content": "간다"},
    ]
    assert plan.text() == "HP 5\n\n가자\n\nHP 5\n\nHP 5\n\n봐라\n\n간다"


def test_of_parts_only_the_texts_are_text() -> None:
    assert flatten("as it is") == "as it is" and flatten([]) == ""
    assert (
        flatten([TEXT, PICTURE, {"type": "text"}, {"type": "file", "text": "x"}, {"type": "text", "text": "둘"}])
        == "봐라\n둘"
    )
    assert Block("user", (TEXT, PICTURE), Origin.WORDS).text == "봐라"


def test_a_question_may_be_asked_again_with_the_reason() -> None:
    plan = asked_again(question("Read it.", "비가 온다."), "No JSON.")
    assert [(block.role, block.text, block.origin) for block in plan.blocks] == [
        ("system", "Read it.", Origin.RULES),
        ("user", "비가 온다.", Origin.WORDS),
        ("user", "No JSON.", Origin.WORDS),
    ]
