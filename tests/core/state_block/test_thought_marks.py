"""Thoughts under the marks of many models: no story, and a draft in them is no block."""

from __future__ import annotations

import pytest

from saga_core.state_block import BlockFilter, hide, read_reply, without_thoughts

STORY = "Odile binds the cut."
DRAFT = "The cut is shallow, maybe 50? Draft:\n```state\nhp_change: -50\n```\nNo, 5 is right."
BLOCK = "```state\nhp_change: -5\n```"
MARKS = {
    "think": ("<think>", "</think>"),
    "thinking": ("<thinking>", "</thinking>"),
    "seed": ("<seed:think>", "</seed:think>"),
    "minimax, begun by the prompt": ("", "</mm:think>"),
    "glm, begun by the prompt": ("", "</think>"),
    "kimi": ("◁think▷", "◁/think▷"),
    "magistral": ("[THINK]", "[/THINK]"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "thought": ("<thought>", "</thought>"),
    "thought process": ("<thought_process>", "</thought_process>"),
    "inner monologue": ("<inner_monologue>", "</inner_monologue>"),
    "cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "harmony": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "harmony, begun by the prompt": ("", "<|start|>assistant<|channel|>final<|message|>"),
}


@pytest.mark.parametrize("name", MARKS)
@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_a_draft_in_thoughts_is_no_block(name: str, size: int) -> None:
    begin, end = MARKS[name]
    text = f"{begin}{DRAFT}{end}{STORY}\n\n{BLOCK}"
    blocks = BlockFilter()
    visible = "".join(blocks.feed(text[at : at + size]) for at in range(0, len(text), size)) + blocks.finish()
    assert without_thoughts(visible) == STORY
    assert read_reply(text).fields.hp_change == -5
    assert [block.thinking for block in blocks.raw_blocks] == [True, False]
    alone = read_reply(f"{begin}{DRAFT}{end}{STORY}")
    assert alone.fields.hp_change is None
    assert "thinking" in alone.problems[0]


def test_a_second_end_closes_what_was_thought_again() -> None:
    text = f"<think>{DRAFT}</think>Let me redo that.\n</think>{STORY}\n\n{BLOCK}"
    assert without_thoughts(hide(text).visible) == STORY
    assert read_reply(text).fields.hp_change == -5


def test_a_second_end_behind_the_story_is_written_for_nothing() -> None:
    text = f"<think>{DRAFT}</think>{STORY}\n\n{BLOCK}\n</think>"
    assert without_thoughts(hide(text).visible) == STORY
    assert read_reply(text).fields.hp_change == -5


def test_thoughts_without_a_story_are_none() -> None:
    assert without_thoughts("I should be brief.</think>") == ""
    assert without_thoughts("<think>I should be brief.</think>\n") == ""


@pytest.mark.parametrize("begun", ["", "<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>"])
def test_the_last_token_of_a_template_is_no_story(begun: str) -> None:
    assert without_thoughts(f"{begun}It rains.<|return|>") == "It rains."


@pytest.mark.parametrize(
    "text", ["She thinks: <it is late>.", "[thinking] He nods.", "[Reason] Rain. > no", "a ◁ b ▷ c"]
)
def test_other_signs_are_story(text: str) -> None:
    assert without_thoughts(text) == text
