"""What a start does without is made ready piece by piece, what is needed first before the rest."""

from __future__ import annotations

import sys

import pytest

from saga_core import registry
from saga_core.assembly.warm_up import warm_up_steps
from saga_core.language import known


def test_readers_of_records_come_first_then_what_backends_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "warm_up", lambda: ("colorsys", "no_module_of_that_name"))
    steps = list(warm_up_steps())
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    steps[0]()
    assert "colorsys" not in sys.modules
    for step in steps[1 : 2 + 2 * len(known())]:  # the languages stand between them
        step()
    assert "colorsys" in sys.modules


def test_what_cannot_be_imported_is_logged_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry, "warm_up", lambda: ("no_module_of_that_name",))
    for step in warm_up_steps():
        step()
    assert [each.getMessage().split(":")[0] for each in caplog.records] == ["no_module_of_that_name cannot be imported"]
    assert "saga_core.curation.validation" in sys.modules
