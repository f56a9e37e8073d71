"""Rules: planted contradictions are found, and what only looks like one is let be."""

from __future__ import annotations

import time
from copy import deepcopy
from typing import Any

import pytest
from attrs import evolve

from saga_core import Saga
from saga_core.config import load_config
from saga_core.curation import correct, rules
from saga_core.model import deltas
from saga_core.model.entities import Kind
from saga_core.state_block import StatusChange
from saga_core.trackers import tracker_in_line
from tests.core.curation.plays import MORE_PLANTED, MORE_SOUND, PLANTED, SOUND, Play
from tests.core.curation.stage import Stage, Told, view_of
from tests.core.frontend import MEMORY, Frontend


def found(play: Play) -> list[str]:
    return [each.data["rule"] for each in rules.review(view_of(play.world, *play.told))]


@pytest.mark.parametrize(
    ("planted", "sound", "least"), [(PLANTED, SOUND, 30), (MORE_PLANTED, MORE_SOUND, 70)], ids=["plays", "more"]
)
def test_recall_and_false_alarms(planted: tuple[Play, ...], sound: tuple[Play, ...], least: int) -> None:
    assert min(len(planted), len(sound)) >= least
    missed = [play.told[-1].reply for play in planted if play.rule not in found(play)]
    wrong = [f"{play.told[-1].reply}: {kinds}" for play in sound if (kinds := found(play))]
    beside = [f"{play.name}: {kinds}" for play in planted if (kinds := [k for k in found(play) if k != play.rule])]
    assert len(missed) <= 0.1 * len(planted), missed
    assert len(wrong) <= 0.05 * len(sound), wrong
    assert len(beside) <= 0.05 * len(planted), beside


@pytest.mark.parametrize("play", PLANTED, ids=lambda play: play.name)
def test_a_finding_names_turns_that_were_shown_and_changes_nothing(play: Play) -> None:
    view = view_of(play.world, *play.told)
    before = deepcopy(view)
    first = rules.review(view)
    assert view == before
    assert first == rules.review(before)
    for each in first:
        assert each.turns and set(each.turns) <= {turn.id for turn in view.turns}
        assert each.turns[-1] == view.turns[-1].id, "the last turn is where it went wrong"
        assert set(each.entities) <= set(view.state.entities)


def test_the_death_is_named_as_proof_and_the_same_is_not_found_again() -> None:
    stage = Stage("ersia")
    stage.tell(Told("찌른다.", "크룩이 쓰러진다.", "status_changes: [{name: 크룩, status: dead}]"))
    stage.tell(Told("쉰다.", "바람이 분다."))
    stage.tell(Told("본다.", "크룩이 웃으며 다가왔다."))
    (finding,) = rules.review(stage.view())
    assert finding.turns == ("t1", "t3")
    assert finding.data["quote"] == "크룩이 웃으며 다가왔다."
    assert "3턴" in finding.summary
    (later,) = rules.review(stage.view(since=1))
    assert later.turns == ("t3",), "a turn that is not shown proves nothing"
    stage.events(deltas.Found(finding.data["key"], "dead_act", finding.summary, finding.turns))
    assert rules.review(stage.view()) == ()


def test_a_forgotten_event_is_found_once_its_time_is_over() -> None:
    stage = Stage("harrow")
    event = deltas.Introduced("e1", Kind.EVENT, "The bells ring")
    stage.events(event, deltas.EventScheduled("e1", "The bells ring", "", 2, 3))
    for depth in (2, 3, 4):
        stage.tell(Told("I wait.", "Nothing."))
        due = [each.data["rule"] for each in rules.review(stage.view())]
        assert due == (["forgotten_event"] if depth > 3 else [])
    stage.events(deltas.EventTriggered("e1", "The bells ring"))
    assert rules.review(stage.view()) == ()


def test_an_event_without_an_end_is_forgotten_after_a_while() -> None:
    stage = Stage("harrow")
    stage.events(deltas.Introduced("e1", Kind.EVENT, "Fire"), deltas.EventScheduled("e1", "Fire", "", 2))
    for _ in range(rules.PATIENCE + 1):
        stage.tell(Told("I wait.", "Nothing."))
    assert rules.review(stage.view()) == ()
    stage.tell(Told("I wait.", "Nothing."))
    (finding,) = rules.review(stage.view())
    assert finding.turns == ("t23",)


def test_an_event_that_is_closed_or_waits_for_somebody_is_not_forgotten() -> None:
    stage = Stage("harrow")
    stage.events(
        deltas.Introduced("e1", Kind.EVENT, "Fire"),
        deltas.Introduced("e2", Kind.EVENT, "A visit"),
        deltas.EventScheduled("e1", "Fire", "", 2, 3),
        deltas.EventScheduled("e2", "A visit", "", 2, None, stage.state.location or ""),
    )
    stage.events(deltas.EventClosed("e1"))
    for _ in range(rules.PATIENCE * 2):
        stage.tell(Told("I wait.", "Nothing."))
    assert rules.review(stage.view()) == ()


def test_without_the_state_before_only_what_the_turns_show_counts() -> None:
    view = view_of("ersia", *PLANTED[1].told)

    assert [each.data["rule"] for each in rules.review(evolve(view, before=None))] == ["dead_act"]


@pytest.mark.parametrize("padding", ["\n", " ", " \n", "“", "「", '"', "*", "은 ", "가 "])
def test_no_prose_takes_long(padding: str) -> None:
    text = f"미나 {padding * (30_000 // len(padding))}"
    began = time.process_time()
    assert rules.acts(text, ("미나",)) == rules.dies(text, ("미나",)) == ""
    assert time.process_time() - began < 1


def test_one_of_several_that_changes_hands_is_in_no_two_hands() -> None:
    bought = Told(user="표를 산다.", reply="표 두 장을 산다.", block="items_gained: [{name: 기차표, quantity: 2}]")
    given = Told(
        user="한 장을 준다.",
        reply="타비가 표를 받는다.",
        block="items_transferred: [{item: 기차표, from: 아리아, to: 타비}]",
    )
    assert found(Play("two tickets", "ersia", "", (bought, given))) == []


def test_the_floors_of_a_house_are_not_two_places() -> None:
    stage = Stage("harrow")
    stage.tell(Told("I sit.", "Ruth sits too.", "location: Paper Moon, upstairs\npresent: [Ruth]"))
    stage.tell(Told("I go down.", "You are alone.", "location: Paper Moon\nnpc_separated: [Ruth]\npresent: []"))
    stage.tell(Told("I wait.", "Ruth is at the press.", "location: Paper Moon\nnpc_met: [Ruth]\npresent: [Ruth]"))
    assert [each.data["rule"] for each in rules.review(stage.view())] == []


def test_a_contradiction_of_somebody_merged_names_who_stays() -> None:
    stage, later = Stage("harrow"), Stage("harrow")
    stage.tell(Told("I sit.", "Otter sits too.", "location: Rope Quay\npresent: [Otter, Bram Oake]"))
    made = correct(stage.state, "merge", {"one": "Otter", "into": "Bram Oake"})
    stage.tell(Told("I go.", "You are alone.", "location: The Slakes\nnpc_separated: [Otter]\npresent: []"))
    stage.tell(Told("I wait.", "Otter waves.", "location: The Slakes\nnpc_met: [Otter]\npresent: [Otter]"))
    for turn in stage.turns:
        later.add(turn.user, turn.reply, turn.delta)
        if turn.depth == 1:
            later.events(*made)
    for view in (later.view(), evolve(later.view(), before=None)):
        assert [each.summary.split(" is at ")[0] for each in rules.review(view)] == ["Bram Oake"]


@pytest.mark.parametrize(
    ("part", "whole", "wrong"),
    [
        ("deck of the Patient Margit", "the Patient Margit", []),
        ("galley aboard the Patient Margit", "Patient Margit", []),
        ("the Patient Margit's hold", "Patient Margit", []),
        ("月影館の玄関", "月影館", []),
        ("여관의 다락", "여관", []),
        ("the North Wood", "the Wood", ["two_places"]),
        ("deck of the Margit", "the Patient Margit", ["two_places"]),
    ],
)
def test_a_place_inside_another_is_no_second_place(part: str, whole: str, wrong: list[str]) -> None:
    for first, second in ((part, whole), (whole, part)):
        stage = Stage("harrow")
        stage.tell(Told("I sit.", "Ruth sits too.", f"location: {first}\npresent: [Ruth]"))
        left = f"location: {second}\nlocation_moved: true\nnpc_separated: [Ruth]\npresent: []"
        stage.tell(Told("I go.", "You are alone.", left))
        stage.tell(Told("I wait.", "Ruth waves.", f"location: {second}\nnpc_met: [Ruth]\npresent: [Ruth]"))
        assert [each.data["rule"] for each in rules.review(stage.view())] == wrong


@pytest.mark.parametrize(("clock", "wrong"), [("Friday 19:30", []), ("Thursday 18:10", ["two_places"])])
def test_who_was_left_yesterday_may_be_elsewhere_today(clock: str, wrong: list[str]) -> None:
    stage = Stage("harrow")
    stage.events(deltas.TrackersDeclared((tracker_in_line("time | kind=clock"),)))
    stage.tell(Told("I sit.", "Ruth sits.", "location: Rope Quay\npresent: [Ruth]\ntime: Thursday 17:50"))
    stage.tell(Told("I go.", "You go alone.", "npc_separated: [Ruth]\npresent: []\ntime: Thursday 18:00"))
    stage.tell(Told("I eat.", "Ruth waves.", f"location: The Slakes\nnpc_met: [Ruth]\npresent: [Ruth]\ntime: {clock}"))
    assert [each.data["rule"] for each in rules.review(stage.view())] == wrong


def test_who_went_away_in_the_night_may_be_elsewhere_in_the_morning() -> None:
    stage = Stage("harrow")
    stage.events(deltas.TrackersDeclared((tracker_in_line("time | kind=clock"),)))
    stage.tell(Told("I sit.", "Ruth sits.", "location: Rope Quay\npresent: [Ruth]\ntime: Thursday 20:00"))
    stage.tell(Told("I wake.", "You are alone.", "npc_separated: [Ruth]\npresent: []\ntime: Friday 07:00"))
    stage.tell(Told("I go.", "Ruth waves.", "location: The Slakes\npresent: [Ruth]\ntime: Friday 07:30"))
    assert [each.data["rule"] for each in rules.review(stage.view())] == []


async def test_the_correction_that_settles_a_death_is_no_contradiction() -> None:
    config = load_config({**MEMORY, "session": {}, "curator": {"interval": 4}})
    async with Saga.open(config) as saga:
        chat = Frontend(saga, session="inn", greeting="It snows on the pass.", system="Mara keeps the inn.")

        async def play(number: int, **fields: Any) -> None:
            await chat.say(f"I do thing number {number}.", f"Mara does chore {number} of the day.", **fields)
            await saga.drain(10)

        await play(1, npc_met=("Osric",))
        await play(2, status_changes=(StatusChange("Osric", "dead"),))
        await play(3)
        turns = await saga.views.turns("inn")
        fields = {"who": "Osric", "status": "alive"}
        await saga.memory.correct("inn", "status", fields, next(each.id for each in turns if each.depth == 3))
        for number in (4, 5):
            await play(number)
        found = await saga.memory.curated("inn")
        assert found["reviews"] and not found["findings"]


def test_whom_the_player_fetches_or_takes_along_is_not_in_two_places() -> None:
    pell = [
        Told("Night.", "Odo waits.", "location: Rope Quay\npresent: [Pell, Odo Finch]"),
        Told("I go alone.", "A lamp.", "location: The Slakes\nlocation_moved: true\nnpc_separated: [Odo Finch, Pell]"),
        Told("I fetch Pell.", "A platform in the reeds.", "location: the Heronry\npresent: [Pell]"),
    ]
    yashichi = [
        Told("夕方。", "弥七は笑った。", "location: 千鳥屋の廊下\npresent: [弥七]"),
        Told("夜、庭に出る。", "小春がいる。", "location: 千鳥屋の庭\npresent: [小春]\nnpc_separated: [弥七]"),
        Told(
            "四日の朝、弥七と小春を連れて笹谷村の寺へ行く。",
            "老僧がいた。",
            "location: 笹谷村の寺\npresent: [弥七, 小春]",
        ),
    ]
    assert found(Play("fetched", "harrow", "", tuple(pell))) == []
    assert found(Play("taken along", "harrow", "", tuple(yashichi))) == []


def test_whom_a_list_forgot_was_left_nowhere() -> None:
    told = [
        Told("Hello.", "A smith.", "location: Nettleford forge\npresent: [Pell, Button]\nnpc_met: [Pell, Button]"),
        Told("I sit down beside Pell.", "Pell nods.", "location: Patient Margaret\npresent: [Pell]"),
        Told("In the morning we cast off.", "Odo laughs.", "location: Cutwater Lock\npresent: [Pell, Button]"),
    ]
    assert found(Play("forgotten", "harrow", "", tuple(told))) == []


@pytest.mark.parametrize(
    ("name", "status", "note"),
    [
        ("Ruark Stroud", "alive", "Stroud is alive, he only faked his death with the torn coat."),
        ("権蔵", "捕縛", "権蔵は死んだふりをして生きていた。"),
    ],
)
def test_a_faked_death_in_a_note_explains_who_acts(name: str, status: str, note: str) -> None:
    told = [
        Told("I wait.", "Water.", f"present: [{name}]\nnpc_met: [{name}]"),
        Told("I look.", "A torn coat floats.", f"status_changes: [{{name: {name}, status: dead}}]"),
        Told(
            "Night.", "Fog.", f"present: [{name}]\nstatus_changes: [{{name: {name}, status: {status}}}]\nnotes: {note}"
        ),
    ]
    assert found(Play("faked", "harrow", "", tuple(told))) == []
    assert found(Play("unexplained", "harrow", "", (*told[:2], evolve(told[2], block=f"npc_met: [{name}]")))) == [
        "dead_act"
    ]
