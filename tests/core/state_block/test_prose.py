"""What a reply tells, without what cards and presets put around it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.state_block import prose, prose_of
from saga_core.transcript import identity_key

STORY = 'Odile pulls the stool closer. "Salt first," she says, and binds the cut.'
TABLE = "\n| who | mood |\n| --- | --- |\n| Odile | brisk |\n"
SECOND = "Then she gives you the rest of the roll."


@pytest.mark.parametrize(
    "text",
    [
        f"{STORY}\n\n<UpdateVariable>\n<Analysis>\n- trust\n</Analysis>\n<Patch>[]</Patch>\n</UpdateVariable>\n<Done/>",
        f"<planning>\nbeat 1: salt\n</planning>\n{STORY}",
        f"<content>\n{STORY}\n</content>\n<details><summary>Board</summary>\n{TABLE}\n</details>\n<!-- day 3 -->",
        f"<content>\n{STORY}\n</content>",
        f"{STORY}\n\n<options>\n1. Ask about the drowned man and what he carried.\n2. Leave.\n</options>",
        f"```yaml\nvigour: 41\nclock: 17:40\n```\n\n{STORY}",
        f"{STORY}\n\n---\n| vigour | trust |\n| --- | --- |\n| 41 | 12 |",
        f"<!-- beat 1 -->\n{STORY}",
        f"<状态栏>\n体力：41\n</状态栏>\n{STORY}",
        f'<div_panel data-x="1">\nHP 10\n</div_panel>\n{STORY}',
        f"<a1><a1>nested</a1></a1>\n{STORY}",
        f"<style>\n.x {{ color: red }}\n</style>\n{STORY}",
        f"<response><thoughts>She is tired.</thoughts>\n<story>\n{STORY}\n</story></response>",
    ],
)
def test_only_the_story_is_left(text: str) -> None:
    assert prose_of(text) == STORY
    assert identity_key(text) == identity_key(STORY), "it comes back without its markup, and is the same reply"


@pytest.mark.parametrize(
    "text",
    [
        STORY,
        f"{STORY} <sigh> {SECOND}",
        f"<i>{STORY}</i> {SECOND}",
        f"{STORY} He <whisper>says no</whisper> and goes.",
        f"<sigh>\n{STORY}",
        "I <3 you. 3 > 2.",
        f"{STORY}\n```",
        f"| a sign | on the wall\n{STORY}",
        "<options>\n1.\n</options>",
    ],
)
def test_prose_stays_as_it_is(text: str) -> None:
    assert prose_of(text) == text


def test_what_was_stopped_is_another_reply() -> None:
    whole = f"{STORY}\n{SECOND}\n<plan>go on</plan>"
    assert identity_key(f"{STORY}\n{SECOND}") == identity_key(whole)
    assert identity_key(STORY) != identity_key(whole), "the player never saw its end"


@given(
    st.lists(
        st.sampled_from(
            ["<a1>", "</a1>", "<b1/>", "<!--", "-->", "```", "\n", "| x |", STORY, "<", ">", "<B2 c='d'>", "</B2>"]
        )
    )
)
def test_it_never_fails_and_is_stable(parts: list[str]) -> None:
    once = prose_of("".join(parts))
    assert prose_of(once) in (once, prose_of(prose_of(once)))


@pytest.mark.parametrize(
    "text",
    ["<a1>" * 5_000, "<!--" * 20_000, "| x |\n" * 20_000, "```\n" * 20_000, "<a1>x</a1>\n" * 5_000, "<a " * 30_000],
)
def test_it_takes_no_longer_than_the_text(text: str) -> None:
    began = time.process_time()
    prose_of(text)
    assert time.process_time() - began < 0.5


BOARDS = {
    "cells": ("🕰️ 17:40 | 📍 Ferry | 🌧️ rain\n\n", ""),
    "quoted rows": ("", "\n\n> **Fares**: 14 coppers\n> **Leaks**: two of them"),
    "a list with a heading": ("", "\n\n**Ledger**\n- Fares: 14 coppers\n- Leaks: two of them"),
    "a list in front": ("- Fares: 14 coppers\n- Leaks: two of them\n\n", ""),
}


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_at_an_end_is_no_prose(name: str) -> None:
    before, behind = BOARDS[name]
    assert prose_of(f"{before}She counts the coins.{behind}") == "She counts the coins."


@pytest.mark.parametrize(
    "text",
    [
        "She reads:\n- Rope: two coils\n- Oil: one flask\n\nThen she nods.",
        "They sit down.\n\n**Ruda:** Mind the bucket.\n**Kit:** What bucket?",
        "Ruda: Mind the bucket.\nKit: What bucket?",
        "A word, ||a secret||, and another.",
    ],
)
def test_lists_and_dialogues_within_a_story_are_prose(text: str) -> None:
    assert prose_of(text) == text


def test_the_story_is_found_among_thousands_of_elements_and_few_are_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    told = prose._told

    def watched(text: str, deep: int) -> str | None:
        opened.append(text)
        return told(text, deep)

    monkeypatch.setattr(prose, "_told", watched)
    rows = "<state>points of hit: 3</state>\n" * 2_000
    assert prose_of(f"{rows}<content>\n{STORY}\n</content>\n{rows}") == STORY
    assert len(opened) < 100
