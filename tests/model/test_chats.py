"""A simulated frontend against a pure model: swipes, edits, branches, returns, stops, continues and restarts."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import machine
from tests.model.searches import deep, repeatable


def test_the_state_is_that_of_the_path_the_chat_proves() -> None:
    run_state_machine_as_test(machine(), settings=repeatable(12, 50))


@pytest.mark.deep
def test_the_state_is_that_of_the_path_in_long_chats() -> None:
    run_state_machine_as_test(machine(), settings=deep(600, 80))
