"""What stands in for the models of other memories reads without mistakes, and the memories work with it."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import pytest

from tests.fork.__main__ import OTHERS, memory
from tests.fork.generator import story
from tests.fork.language import language, languages
from tests.fork.reader import RIGHT
from tests.fork.runner import Refused, estimate, run
from tests.fork.truthful import facts

_KINDS = {"move": "place", "hold": "holder", "lay": "holder", "heal": "wound", "done": "plan", "know": "knows"}


def changed(event: dict[str, Any]) -> tuple[str, tuple[str, ...], str]:
    """The kind of an event, what it is about, and what becomes of that."""
    kind = _KINDS.get(event["do"], event["do"])
    who = event.get("thing", event.get("who"))
    value = next((event[key] for key in ("fact", "to", "in", "with", "by") if key in event), kind)
    return kind, (who,) if isinstance(who, str) else tuple(sorted(who)), value


@pytest.mark.parametrize(("tag", "rate"), [*product(languages(), (0.0, 0.3))])
def test_each_event_is_read_once_and_nothing_else(tag: str, rate: float) -> None:
    """But where the player goes, which nobody asks about."""
    spoken = language(tag)
    replies = [each for step in story(tag, 1, 50, rate) for each in step.get("add", ()) if each["role"] == "assistant"]
    assert len(replies) > 50
    for reply in replies:
        events = [event for event in reply["events"] if (event["do"], event.get("who")) != ("move", spoken.player[0])]
        read = [(fact.kind, tuple(sorted(fact.subjects)), fact.value) for fact in facts(reply["content"], spoken)]
        assert sorted(read) == sorted(map(changed, events)), reply["content"]


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted(OTHERS))
def test_another_memory_remembers_what_is_never_taken_back(name: str) -> None:
    """In an environment that has it."""
    try:
        make = memory(name)
    except Refused as why:
        pytest.skip(str(why))
    if name == "letta" and "LETTA_BASE_URL" not in os.environ:
        pytest.skip("no Letta server: LETTA_BASE_URL is not set")
    asked = run(story("en", 2, 20, 0.0), make, estimate).asked
    assert len(asked) >= 12
    assert sum(each.reading.outcome == RIGHT for each in asked) >= 0.9 * len(asked)
