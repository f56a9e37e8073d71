"""A simulated frontend whose narrator often reports nothing: extraction makes every proved path whole."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.model.searches import deep, repeatable
from tests.model.silent import SilentMachine


def test_what_nobody_reported_is_known_on_every_path_that_is_proved() -> None:
    run_state_machine_as_test(SilentMachine, settings=repeatable(10, 40))


@pytest.mark.deep
def test_what_nobody_reported_is_known_in_long_chats() -> None:
    run_state_machine_as_test(SilentMachine, settings=deep(200, 80))
