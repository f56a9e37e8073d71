"""Unreported turns: which they are, and what a model's answer stands for."""

from __future__ import annotations

from collections import deque

import pytest

from saga_backends.tokens.estimate import EstimateCounter
from saga_core.extraction import Extractor
from saga_core.jobs.extraction import read_turn
from saga_core.model import Delta, Introduced, Mentioned, ReportStatus, Source, TurnKind, TurnNode
from saga_core.model.deltas import HpChanged
from saga_core.model.entities import Kind
from saga_core.sessions import LiveSession
from tests.core.extraction.scripted import Scripted, changes
from tests.core.sessions.stage import Stage, tell


@pytest.mark.parametrize(
    ("kind", "status", "is_so"),
    [
        (TurnKind.NARRATION, ReportStatus.FALLBACK, True),
        (TurnKind.NARRATION, ReportStatus.CUT, True),
        (TurnKind.ADOPTED, ReportStatus.FALLBACK, True),
        (TurnKind.CONTINUATION, ReportStatus.FALLBACK, True),
        (TurnKind.SIDE, ReportStatus.FALLBACK, False),
        (TurnKind.ROOT, ReportStatus.FALLBACK, False),
        (TurnKind.NARRATION, ReportStatus.NONE, False),
        (TurnKind.NARRATION, ReportStatus.PARTIAL, False),
        (TurnKind.NARRATION, ReportStatus.OK, False),
    ],
)
def test_turns_of_the_story_whose_changes_nobody_reported(kind: TurnKind, status: ReportStatus, is_so: bool) -> None:
    assert TurnNode("t", "r", 1, 0.0, kind, status=status).unreported is is_so


async def read(live: LiveSession, turn: str, answer: str) -> Delta:
    model = Scripted(deque([answer]))

    async def nothing(*_: object) -> None:
        return None

    extractor = Extractor(model, "m", EstimateCounter())
    return await read_turn(live, turn, extractor, nothing, nothing)


async def test_the_answer_is_read_on_the_state_before_and_names_lore_that_was_spoken_of() -> None:
    live = await Stage().begin()
    await tell(live, "t1", reply="광장에서 넘어졌다.")
    delta = await read(live, "t1", changes(hp_change=-5))
    assert delta.source is Source.EXTRACTION and delta.status is ReportStatus.OK
    assert HpChanged(live.prepared.opening.player, -5) in delta.events
    assert Mentioned(("광장",)) in delta.events


async def test_mentions_that_the_recorder_found_are_kept_as_they_are() -> None:
    live = await Stage().begin()
    await tell(live, "t1", Mentioned(("숲",)), HpChanged(live.prepared.opening.player, -9), reply="광장에서 넘어졌다.")
    delta = await read(live, "t1", changes(hp_change=-5))
    assert [event for event in delta.events if isinstance(event, Mentioned)] == [Mentioned(("숲",))]
    assert [event.amount for event in delta.events if isinstance(event, HpChanged)] == [-5], (
        "the answer takes its place"
    )


async def test_whom_later_turns_speak_of_stays_introduced() -> None:
    live = await Stage().begin()
    mira = Introduced("cmira", Kind.CHARACTER, "미라")
    await tell(live, "t1", mira)
    alone = await read(live, "t1", changes(hp_change=-5))
    assert mira not in alone.events
    await tell(live, "t2")
    above = await read(live, "t1", changes(hp_change=-5))
    assert mira in above.events


async def test_who_comes_later_in_the_story_keeps_one_identity() -> None:
    live = await Stage().begin()
    await tell(live, "t1", reply="누군가 손을 흔든다. 미라다.")
    await tell(live, "t2", Introduced("clater", Kind.CHARACTER, "미라"))
    delta = await read(live, "t1", changes(npc_met=("미라",)))
    assert any(getattr(event, "id", "") == "clater" for event in delta.events)
