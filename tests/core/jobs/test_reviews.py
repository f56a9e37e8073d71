"""Reviews behind the replies: once for a path, never in the way, and what they change can be undone."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput, NotFound
from saga_core.model import deltas
from saga_core.model.entities import Entity, Kind
from saga_core.model.tree import Delta, ReportStatus, Source
from saga_core.state_block.fields import StatusChange
from saga_core.stores.curator import CurationView
from saga_core.values import Proposal
from tests.core.frontend import MEMORY, Frontend, answer

INTERVAL = 4


def config(**curator: Any) -> Any:
    return load_config({**MEMORY, "curator": {"interval": INTERVAL, **curator}})


async def walked(chat: Frontend, turns: int, start: int = 0) -> str:
    for number in range(start, start + turns):
        begun = await chat.say(
            f"{number}번째 길로 간다.", f"{number}번째 골목은 길고 어둡다. 바람이 분다.", notes=f"골목 {number}"
        )
    return begun.session.id


async def contradicted(chat: Frontend) -> str:
    await chat.say("찌른다.", "크룩이 쓰러진다.", status_changes=(StatusChange("크룩", "dead"),))
    await chat.say("쉰다.", "불이 탄다. 밤이 길다.", mood="고요")
    await chat.say("본다.", "크룩이 웃으며 다가왔다. 그는 손을 내밀었다.", mood="놀람")
    begun = await chat.say("묻는다.", "대답이 없다. 불만 탄다.", mood="긴장")
    return begun.session.id


async def test_a_path_is_reviewed_every_interval_and_once() -> None:
    async with Saga.open(config()) as saga:
        chat = Frontend(saga)
        session = await walked(chat, INTERVAL - 1)
        await saga.drain(5)
        assert await saga.memory.reviews(session) == []
        for number in range(INTERVAL - 1, 3 * INTERVAL):
            await walked(chat, 1, number)
            await saga.drain(5)
        for _ in range(2):
            await saga.drain(5)
            assert [(each["since"], each["turn"]) for each in await saga.memory.reviews(session)] == [
                (0, 4),
                (4, 8),
                (8, 12),
            ]
        assert saga.counters.counts["curation.reviews"] == 3
        assert await saga.maintenance.differences(session) == []


async def test_a_swipe_is_another_path_and_its_findings_are_its_own() -> None:
    async with Saga.open(config()) as saga:
        chat = Frontend(saga)
        session = await contradicted(chat)
        await saga.drain(5)
        first = await saga.memory.curated(session)
        assert [each["rule"] for each in first["findings"]] == ["dead_act"]
        del chat.history[-4:]
        await chat.say("본다.", "방울만 남아 있다. 바람이 분다.", mood="고요")
        await saga.drain(5)
        assert (await saga.memory.curated(session))["findings"] == []


async def test_a_finding_is_shown_decided_and_undone() -> None:
    async with Saga.open(config()) as saga:
        session = await contradicted(Frontend(saga))
        await saga.drain(5)
        (finding,) = (await saga.memory.curated(session))["findings"]
        assert len(finding["turns"]) == 2
        settled = await saga.memory.correct(session, "settle", {"finding": finding["key"], "verdict": "deliberate"})
        assert (await saga.memory.curated(session))["findings"][0]["verdict"] == "deliberate"
        await saga.memory.undo(session, settled)
        assert (await saga.memory.curated(session))["findings"][0]["verdict"] is None
        (change,) = [each for each in await saga.memory.changes(session) if each["events"][0]["t"] == "found"]
        undoing, turn = await saga.memory.undo(session, change["id"])
        assert turn == change["turn_id"]
        assert (await saga.memory.curated(session))["findings"] == []
        with pytest.raises(BadInput, match=undoing):
            await saga.memory.undo(session, change["id"])
        await saga.memory.undo(session, undoing)
        assert (await saga.memory.curated(session))["findings"] == [finding]
        await saga.drain(5)
        assert await saga.maintenance.differences(session) == []


async def test_reviews_and_changes_outlive_the_process(tmp_path: Any) -> None:
    stored = load_config(
        {"storage": {"path": str(tmp_path)}, "session": MEMORY["session"], "curator": {"interval": INTERVAL}}
    )
    async with Saga.open(stored) as saga:
        session = await contradicted(Frontend(saga))
        await saga.drain(5)
        change = await saga.memory.correct(session, "merge", {"one": "타비", "into": "마렌"})
        before = (
            await saga.memory.curated(session),
            await saga.memory.changes(session),
            await saga.memory.entities(session),
        )
    async with Saga.open(stored) as saga:
        assert (
            await saga.memory.curated(session),
            await saga.memory.changes(session),
            await saga.memory.entities(session),
        ) == before
        await saga.drain(5)
        assert saga.counters.counts["curation.reviews"] == 0, "a path that was reviewed stays so"
        await saga.memory.undo(session, change)
        assert "타비" in {each["name"] for each in await saga.memory.entities(session)}
        await saga.drain(5)
        assert await saga.maintenance.differences(session) == []


async def test_merged_entities_stay_merged_in_the_turns_below_and_come_apart_again() -> None:
    async with Saga.open(config()) as saga:
        chat = Frontend(saga)
        await chat.say("본다.", "두건 쓴 남자가 서 있다. 말이 없다.", npc_met=("두건 쓴 남자",))
        begun = await chat.begin("다가간다.")  # read before the merge, recorded after it
        session = begun.session.id
        change = await saga.memory.correct(session, "merge", {"one": "두건 쓴 남자", "into": "에르겐"})
        await answer(begun, "두건 쓴 남자가 떠난다. 바람이 분다.", npc_separated=("두건 쓴 남자",))
        state = await saga.views.state(session)
        assert (state.present, [state.name(who) for who in state.met]) == ((), ["에르겐"])
        assert [each.text for each in state.problems] == []
        await saga.memory.undo(session, change)
        state = await saga.views.state(session)
        assert [state.name(who) for who in state.met] == ["두건 쓴 남자"]
        await saga.drain(5)
        assert await saga.maintenance.differences(session) == []


class _Curator:
    """What a test wants of a curator."""

    def __init__(self, *proposals: Proposal, error: Exception | None = None) -> None:
        self.proposals, self.error, self.views = proposals, error, list[CurationView]()

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        self.views.append(view)
        if self.error is not None:
            raise self.error
        return self.proposals


async def test_a_curator_that_fails_harms_no_turn_and_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(config()) as saga:
        (rules,) = saga.background.reviews.curators
        broken = _Curator(error=RuntimeError("no"))
        monkeypatch.setattr(rules, "review", broken.review)
        chat = Frontend(saga)
        session = await walked(chat, INTERVAL + 2)
        assert not (await saga.drain(5)).waiting
        status = await saga.status()
        assert status["curation"]["failed"][0]["reason"] == "RuntimeError: no"
        assert status["degraded"]["curation.rules"] == "RuntimeError: no"
        assert len(broken.views) < 2 * (INTERVAL + 2), "it is not tried at every turn"
        monkeypatch.undo()
        await saga.drain(5)
        status = await saga.status()
        assert (status["curation"]["failed"], status["degraded"], status["curation"]["reviews"]) == ([], {}, 1)
        assert [each["turn"] for each in await saga.memory.reviews(session)] == [INTERVAL + 2]


async def test_unsound_proposals_are_refused_with_a_reason_and_the_sound_ones_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Saga.open(config()) as saga:
        (rules,) = saga.background.reviews.curators
        odd = _Curator(
            Proposal("prophecy", "x"),
            Proposal("contradiction", "거짓", ("nowhere",)),
            Proposal("contradiction", "누구", (), ("nobody",)),
            Proposal("memory", "x", (), (), {"block": "diary", "text": "x"}),
            Proposal("event", "x", (), (), {"name": "종", "due": "3"}),
            Proposal("event", "x", (), (), {"name": "종", "due": "30"}),
        )
        monkeypatch.setattr(rules, "review", odd.review)
        session = await walked(Frontend(saga), INTERVAL)
        await saga.drain(5)
        (review,) = await saga.memory.reviews(session)
        assert [each["kind"] for each in review["accepted"]] == ["event"]
        assert [each["reason"].partition(" ")[0] for each in review["refused"]] == [
            "the",
            "turn",
            "there",
            "there",
            "due",
        ]


async def test_turns_that_are_still_to_be_read_are_reviewed_afterwards() -> None:
    from tests.core.extraction.scripted import Scripted, changes

    small = Scripted(otherwise=changes(hp_change=-1))
    async with Saga.open(config(), extractor=small) as saga:
        chat = Frontend(saga)
        for number in range(INTERVAL):
            begun = await chat.say(f"{number}번째 길로 간다.", f"{number}번째 골목은 길고 어둡다. 바람이 분다.")
        await saga.background.drain_views(5)
        await saga.drain(10)
        (review,) = await saga.memory.reviews(begun.session.id)
        state = await saga.views.state(begun.session.id)
        assert (review["turn"], state.entities[state.player].get("hp")) == (INTERVAL, 96)


async def test_an_adopted_history_is_reviewed_in_pieces() -> None:
    async with Saga.open(config()) as saga:
        chat = Frontend(saga)
        for number in range(60):
            chat.history += [
                {"role": "user", "content": f"{number}번째 말이다."},
                {"role": "assistant", "content": f"{number}번째 대답이다. 골목은 길다."},
            ]
        begun = await chat.say("간다.", "그는 간다. 길이 멀다.", mood="고요")
        await saga.drain(20)
        reviews = await saga.memory.reviews(begun.session.id)
        assert [(each["since"], each["turn"]) for each in reviews] == [(0, 20), (20, 40), (40, 60)]


async def test_an_event_that_is_due_stands_in_the_context_until_it_happens() -> None:
    async with Saga.open(config()) as saga:
        chat = Frontend(saga)
        session = await walked(chat, 1)
        await saga.memory.correct(
            session, "event", {"name": "종이 울린다", "text": "광장에 모두 모인다", "due": "3", "expires": "5"}
        )
        shown = []
        for number in range(1, 6):
            fields = {"event_trigger": "종이 울린다"} if number == 3 else {"mood": "고요"}
            begun = await chat.say(
                f"{number}번째 길로 간다.", f"{number}번째 골목은 길고 어둡다. 바람이 분다.", **fields
            )
            shown.append("광장에 모두 모인다" in begun.context.text)
        assert shown == [False, True, True, False, False]


CORRECTIONS: list[tuple[str, dict[str, str], str]] = [
    ("fly", {}, "kind: 'fly'"),
    ("merge", {"one": "타비"}, "into: missing"),
    ("merge", {"one": "타비", "into": "어둠의 숲"}, "one: the story knows no location"),
    ("merge", {"one": "아리아", "into": "타비"}, "is the player"),
    ("split", {"of": "에르겐", "name": "왕"}, "has no other name"),
    ("hp", {"hp": "abc"}, "no whole number"),
    ("hp", {"hp": "101"}, "not between 0 and 100"),
    ("take", {"item": "불꽃 검"}, "does not have"),
    ("forget", {"who": "아리아"}, "cannot be forgotten"),
    ("forget", {"who": "없는 사람"}, "the story knows no entity"),
    ("event", {"name": "종", "due": "0"}, "no turn to come"),
    ("event", {"name": "종", "due": "9", "expires": "8"}, "comes before due, 9; give 9 or a later turn"),
    ("settle", {"finding": "x", "verdict": "maybe"}, "verdict"),
    ("settle", {"finding": "x", "verdict": "error"}, "no finding"),
    ("note", {"text": "x", "colour": "red"}, "colour: unknown field"),
]


@pytest.mark.parametrize(("kind", "fields", "message"), CORRECTIONS)
async def test_a_correction_that_cannot_be_is_refused_and_changes_nothing(
    kind: str, fields: dict[str, str], message: str
) -> None:
    async with Saga.open(config()) as saga:
        session = await walked(Frontend(saga), 1)
        before = await saga.views.state(session)
        with pytest.raises(BadInput, match=message):
            await saga.memory.correct(session, kind, fields)
        assert await saga.views.state(session) == before
        assert await saga.memory.changes(session) == []


async def test_every_kind_of_correction_does_what_it_says_and_is_undone() -> None:
    async with Saga.open(config()) as saga:
        session = await walked(Frontend(saga), 1)
        opening = await saga.views.state(session)
        player = opening.player
        done = [
            ("move", {"place": "대장간"}, lambda s: s.name(s.location) == "대장간"),
            ("hp", {"hp": "40"}, lambda s: s.entities[player].get("hp") == 40),
            ("hp", {"hp": "150", "max_hp": "150"}, lambda s: s.entities[player].get("max_hp") == 150),
            ("status", {"who": "크룩", "status": "dead"}, lambda s: any(e.dead for e in s.entities.values())),
            ("mood", {"mood": "분노"}, lambda s: s.entities[player].get("mood") == "분노"),
            ("give", {"item": "방패", "quantity": "2"}, lambda s: _carries(s, "방패") == 2),
            ("take", {"item": "낡은 장검"}, lambda s: _carries(s, "낡은 장검") == 0),
            ("met", {"who": "타비"}, lambda s: "타비" in map(s.name, s.present)),
            (
                "relation",
                {"from": "타비", "to": "아리아", "type": "친구", "strength": "3"},
                lambda s: _related(s) == ("친구", 3),
            ),
            (
                "attribute",
                {"who": "타비", "attribute": "age", "value": "11"},
                lambda s: _named(s, "타비").get("age") == "11",
            ),
            ("note", {"text": "비가 온다"}, lambda s: s.notes[-1][1] == "비가 온다"),
            ("lore", {"entry": "골목", "text": "길다"}, lambda s: s.learned == {"골목": "길다"}),
            ("rename", {"who": "타비", "name": "타비스"}, lambda s: "타비" in _named(s, "타비스").aliases),
            ("merge", {"one": "타비", "into": "마렌"}, lambda s: "타비" in _named(s, "마렌").aliases),
            ("split", {"of": "에르겐", "name": "약초상"}, lambda s: _named(s, "약초상").name == "약초상"),
            ("forget", {"who": "타비"}, lambda s: all(e.name != "타비" for e in s.entities.values())),
            ("event", {"name": "종", "due": "9"}, lambda s: [e.name for e in s.schedule.values()] == ["종"]),
        ]  # fmt: skip
        for kind, fields, holds in done:
            assert not holds(opening), kind
            change = await saga.memory.correct(session, kind, fields)
            assert holds(await saga.views.state(session)), kind
            assert (await saga.views.state(session)).problems == opening.problems
            await saga.memory.undo(session, change)
            assert await saga.views.state(session) == opening, kind
        await saga.drain(5)
        assert await saga.maintenance.differences(session) == []
        with pytest.raises(NotFound):
            await saga.memory.undo(session, "a0")


def _named(state: Any, name: str) -> Any:
    return next((each for each in state.entities.values() if each.name == name), Entity("", Kind.ITEM, ""))


def _carries(state: Any, name: str) -> int:
    hands = state.belongings.get(state.player, {})
    return sum(stack.quantity for item, stack in hands.items() if state.name(item) == name)


def _related(state: Any) -> tuple[str, int] | None:
    found = state.relations.get((_named(state, "타비").id, state.player))
    return (found.type, found.strength) if found else None


def test_an_edit_says_nothing_of_how_well_a_turn_is_known() -> None:
    unread = Delta((), Source.NONE, ReportStatus.FALLBACK)
    edit = Delta((deltas.Noted("x"),), Source.EDIT, id="a1")
    assert unread.amended((edit,)).status is ReportStatus.FALLBACK
    assert unread.amended((edit, Delta((), Source.EDIT, id="a2", undoes="a1"))) == unread
    again = (edit, Delta((), Source.EDIT, id="a2", undoes="a1"), Delta((), Source.EDIT, id="a3", undoes="a2"))
    assert unread.amended(again).events == edit.events


async def test_sessions_that_left_memory_are_not_loaded_to_look_for_reviews() -> None:
    async with Saga.open(config()) as saga:
        saga.parts.live.limit = 1
        first = await walked(Frontend(saga), 2)
        await saga.drain(5)
        await walked(Frontend(saga), 2, 7)
        await saga.drain(5)
        assert saga.parts.live.peek(first) is None
        loaded = saga.counters.counts["sessions.loaded"]
        await saga.drain(5)
        assert saga.counters.counts["sessions.loaded"] == loaded and saga.parts.live.peek(first) is None
