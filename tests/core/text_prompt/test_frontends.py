"""What frontends of every kind write is told apart, and put together again byte for byte."""

from __future__ import annotations

import pytest

from saga_core.messages import PromptPlan
from saga_core.prompt import build_plan, client_blocks
from saga_core.text_prompt import TextPrompt, read_prompt, write_prompt
from tests.core.text_prompt.frontends import FRONTENDS, MODEL, USER, Frontend, kept_whole
from tests.core.text_prompt.templates import Line

EACH = pytest.mark.parametrize("frontend", FRONTENDS, ids=lambda each: each.name)


def lines_of(frontend: Frontend) -> list[Line]:
    talk = frontend.talk
    said = [(MODEL, talk.greeting), (USER, talk.words[0]), (MODEL, talk.replies[0]), (USER, talk.words[1])]
    return [*said, (MODEL, talk.replies[1])]


def again(prompt: TextPrompt) -> str:
    return write_prompt(PromptPlan(client_blocks(prompt.messages)), prompt)


def spoken(frontend: Frontend, prompt: TextPrompt) -> list[Line]:
    """What was said, without the names that a chat of names has in front, and without notes."""
    found = []
    for message in prompt.messages:
        text = message["content"].replace("\r\n", "\n")
        for name in frontend.names:
            text = text.removeprefix(f"{name}: ")
        if message["role"] != "system":
            found.append((message["role"], text))
    return found


@EACH
def test_a_turn(frontend: Frontend) -> None:
    lines = lines_of(frontend)[:-1]
    text = frontend.written(lines, MODEL)
    prompt = read_prompt(text, frontend.stops)
    assert prompt.told
    assert again(prompt) == text
    assert (prompt.asks_for, prompt.player) == (MODEL, frontend.player or prompt.player)
    if frontend.at_once:
        assert spoken(frontend, prompt)[-1][1].endswith(lines[-1][1])
    elif frontend.name == "a reply that is begun":
        assert spoken(frontend, prompt) == [*lines, (MODEL, "*")]
    elif frontend.name == "DeepSeek, no thoughts":
        assert spoken(frontend, prompt)[:4] == lines
    else:
        without_greeting = frontend.name == "an adventure"  # what stands before the first ">" is the story
        assert spoken(frontend, prompt) == lines[without_greeting:]


@EACH
def test_what_is_added_stands_before_the_last_words_and_takes_nothing_away(frontend: Frontend) -> None:
    lines = lines_of(frontend)[:-1]
    text = frontend.written(lines, MODEL)
    prompt = read_prompt(text, frontend.stops)
    plan = build_plan(client_blocks(prompt.messages), rules="RULES", context="CONTEXT")
    added = write_prompt(plan, prompt)
    assert (added.count("RULES"), added.count("CONTEXT")) == (1, 1)
    assert kept_whole(text, added)
    words = lines[-1][1].replace("\n", "\r\n") if "\r" in text else lines[-1][1]
    assert added.rindex("CONTEXT") < added.rindex(words)
    assert added[added.rindex(words) :] == text[text.rindex(words) :]


@pytest.mark.parametrize("frontend", [each for each in FRONTENDS if each.asks_for_both], ids=lambda each: each.name)
def test_a_continuation_and_the_players_own_line(frontend: Frontend) -> None:
    lines = lines_of(frontend)
    text = frontend.written(lines, "")
    prompt = read_prompt(text, frontend.stops)
    assert again(prompt) == text
    if not frontend.at_once:
        assert (prompt.asks_for, prompt.opening) == (MODEL, "")
        assert spoken(frontend, prompt)[-1] == lines[-1]
        assert prompt.player == (frontend.player or prompt.player)
    text = frontend.written(lines, USER)
    prompt = read_prompt(text, frontend.for_the_player or frontend.stops)
    assert again(prompt) == text
    assert (prompt.asks_for, prompt.player) == (USER, frontend.player or prompt.player)


def test_a_name_that_ends_a_text_is_no_speaker() -> None:
    """Of a chat without stop sequences; in one with them, the player is told by them."""
    for text in ("Alex: I came.\nYsolde: Hm.\n\nSummary:", "The rain had stopped.\nNote: it was late.\nTitle:"):
        assert not read_prompt(text, []).told
