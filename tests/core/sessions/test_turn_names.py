"""The names by which a person calls a turn or a timeline."""

from __future__ import annotations

import pytest

from saga_core.errors import NotFound
from saga_core.model import Timeline
from saga_core.sessions import LiveSession, timeline_named, turn_named
from tests.core.sessions.stage import Stage, tell


@pytest.fixture
async def live() -> LiveSession:
    found = await Stage().begin()
    root = found.head
    await tell(found, "u1")
    await tell(found, "t1", parent=root)
    await tell(found, "t2")
    found.timelines = {"탑": Timeline("탑", root, "u1"), "1": Timeline("1", root, "u1"), "7": Timeline("7", root, "u1")}
    return found


async def test_a_turn_is_called_by_its_id_its_timeline_or_its_number_on_the_active_path(live: LiveSession) -> None:
    assert turn_named(live, "u1") == "u1"
    assert turn_named(live, " 탑 ") == turn_named(live, "탑") == "u1", "decomposed and spaced names too"
    assert [turn_named(live, number) for number in ("0", "2", "02")] == [live.tree.root, "t2", "t2"]
    assert turn_named(live, "1") == "t1", "not the timeline of that name"


@pytest.mark.parametrize("name", ["3", "7", "-1", "t9", "", "²", "１", "12345678901", "tower"])
async def test_what_there_is_not_is_told_with_what_there_is(live: LiveSession, name: str) -> None:
    with pytest.raises(NotFound, match=r"the turns of its active path are 0 to 2, its last is t2; its timelines are "):
        turn_named(live, name)


async def test_a_timeline_is_called_by_its_name(live: LiveSession) -> None:
    assert timeline_named(live, " 탑").head == "u1"
    with pytest.raises(NotFound, match="no timeline 'tower'"):
        timeline_named(live, "tower")
