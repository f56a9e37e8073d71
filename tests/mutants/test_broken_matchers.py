"""The simulated frontend notices every matcher that is broken in a known way, in a chat that shows it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import CANNED, ChatMachine, Mutation, machine
from tests.mutants.matchers import MUTANTS

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def say(chat: ChatMachine, hurt: int, *texts: str) -> None:
    chat.send(hurt=hurt, somewhere="", with_item=False, is_korean=True, texts=texts)


def two_chats(chat: ChatMachine) -> None:
    say(chat, 10)
    chat.new_chat()
    say(chat, 20)


def back_to_the_first_swipe(chat: ChatMachine) -> None:
    say(chat, 10)
    chat.swipe(hurt=20, with_item=False, is_korean=True)
    chat.swipe_back(which=0)
    say(chat, 5)


def the_same_reply_twice(chat: ChatMachine) -> None:
    say(chat, 10, CANNED[0])
    say(chat, 20, CANNED[0])
    say(chat, 5)


def an_edited_reply(chat: ChatMachine) -> None:
    say(chat, 10)
    chat.edit_reply(which=0, small=True)
    say(chat, 5)


def a_grown_reply_alone_in_the_window(chat: ChatMachine) -> None:
    for _ in range(4):
        say(chat, 10)
    chat.go_on(hurt=5, spaced=False)
    chat.send_truncated(skip=3, hurt=5)


CHATS: dict[str, Callable[[ChatMachine], None]] = {
    "by system prompt": two_chats,
    "by turn counter": back_to_the_first_swipe,
    "first instead of longest": the_same_reply_twice,
    "no edit rule": an_edited_reply,
    "no suffix rule": a_grown_reply_alone_in_the_window,
}


def play(mutation: Mutation | None, chat: Callable[[ChatMachine], None]) -> None:
    """Play ``chat`` as the search would. Raises ``AssertionError`` for what the machine notices."""

    @settings(max_examples=1, deadline=None, database=None, phases=[Phase.generate])
    @given(st.none())
    def played(_: None) -> None:
        made = machine(mutation)()
        try:
            made.begin(is_korean=True)
            chat(made)
        finally:
            made.teardown()

    played()


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_matcher_is_caught_in_a_chat_that_shows_it(name: str) -> None:
    play(None, CHATS[name])
    with pytest.raises(AssertionError):
        play(MUTANTS[name], CHATS[name])


@pytest.mark.parametrize("name", ["by system prompt", "by turn counter"])
def test_the_search_finds_it_by_itself(name: str) -> None:
    # Without shrinking: that it fails is the point, not the smallest chat that shows it.
    quick = settings(
        max_examples=60,
        stateful_step_count=24,
        deadline=None,
        suppress_health_check=SLOW,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine(MUTANTS[name]), settings=quick)
