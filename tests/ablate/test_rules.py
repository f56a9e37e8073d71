"""What rules.yaml names is there, so that a rule can be taken out."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from tests.ablate.rules import _DATA, place_of, rooms, rules, take_out


@pytest.mark.parametrize("name", [*_DATA["caches"], *_DATA["neutral"]])
def test_a_place_that_is_named_is_there(name: str) -> None:
    assert place_of(name).value is not None


def test_every_module_that_is_left_out_is_there() -> None:
    there = [each.__name__.removeprefix("saga_core.") for each in rooms()]
    left_out = [pattern.partition(":")[0] for pattern in _DATA["no_rules"] if ":" in pattern]
    assert [each for each in left_out if not any(fnmatch(module, each) for module in there)] == []


def test_a_rule_can_be_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    (rule,) = [each for each in rules() if each.name == "naming.cast:_FOR"]
    monkeypatch.setattr("saga_core.naming.cast._FOR", place_of(rule.name).value)  # put back afterwards
    take_out(rule)
    assert place_of(rule.name).value.search("Mistress Aldous for Wren Aldous.") is None
