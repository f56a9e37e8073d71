"""Several players in one world: nothing is lost, nothing else is seen, and no past changes."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.model.searches import deep, repeatable
from tests.model.sharing import SharingMachine


def test_players_see_what_others_did_and_no_past_changes() -> None:
    run_state_machine_as_test(SharingMachine, settings=repeatable(8, 24))


@pytest.mark.deep
def test_players_see_what_others_did_and_no_past_changes_in_long_chats() -> None:
    run_state_machine_as_test(SharingMachine, settings=deep(500, 30))
