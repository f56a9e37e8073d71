"""Trackers in play: they are asked for, recorded on their path, told, corrected, explained and compared."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput
from saga_core.maintenance import ImportOptions
from saga_core.state_block import instruction
from saga_core.trackers import NO_TRACKERS, PROFILES, guessed_profile, tracker_of, trackers_of
from tests.core.frontend import Frontend, answer
from tests.core.imports import samples

TRACKERS = {
    "gold": {"kind": "number", "range": "0..999", "unit": "coins", "start": 10},
    "affection": {"kind": "meter", "steps": "0 neutral, 30 friendly", "description": "how much she likes him"},
    "outfit": {"kind": "text", "for": "character"},
    "time": {"kind": "clock", "start": "Monday 08:00"},
}


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": TRACKERS})) as opened:
        yield opened


@pytest.fixture
def chat(saga: Saga) -> Frontend:
    return Frontend(saga, greeting="The lantern market opens.", system="You narrate.", note="")


async def told(chat: Frontend, words: str, reply: str, block: str, **options: Any) -> str:
    """Play one turn with a block as written; return the id of the turn."""
    turn = await chat.begin(words, **options)
    turn.replies[0].feed(f"{reply}\n\n```state\n{block}\n```")
    (recorded,) = await turn.commit()
    chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": recorded.reply}]
    return recorded.id


async def values(saga: Saga, chat: Frontend) -> dict[str, Any]:
    state = await saga.views.describe(session_of(chat))
    return {f"{row['name']}/{row['who']}" if row["to"] else row["name"]: row["text"] for row in state["trackers"]}


def session_of(chat: Frontend) -> str:
    assert chat.last is not None
    return chat.last.session.id


@pytest.mark.parametrize(
    ("said", "worn"),
    [("{Mina: green dress, silver earrings, Joon: apron}", "green dress, silver earrings"), ("{Mina: a hat}", "a hat")],
)
async def test_what_one_wears_may_have_several_parts(saga: Saga, chat: Frontend, said: str, worn: str) -> None:
    await told(chat, "I look.", "Mina and Joon are here.", f"present: [Mina, Joon]\noutfit: {said}")
    rows = (await saga.views.describe(session_of(chat)))["trackers"]
    assert next(row["text"] for row in rows if row["name"] == "outfit" and row["who"] == "Mina") == worn


async def test_the_configuration_declares_and_the_first_turn_records_it(saga: Saga, chat: Frontend) -> None:
    turn = await chat.begin("I look around.")
    prompt = turn.plan.text()
    assert "\ngold: <12|+3>\n" in prompt and "- affection: how much she likes him" in prompt
    assert "gold: 10/999 coins" in turn.context.text and "time: Day 1, Monday, 08:00" in turn.context.text
    await told(
        chat, "I buy a lantern.", "Mina sells it.", "present: [Mina]\ngold: -3\naffection: {Mina: +5}\ntime: +2h"
    )
    assert await values(saga, chat) == {
        "gold": "7/999 coins",
        "affection/Mina": "+5 (neutral)",
        "time": "Day 1, Monday, 10:00",
    }
    turn = await chat.begin("And now?")
    assert "Mina (affection: +5 (neutral))" in turn.context.text and "gold: 7/999 coins" in turn.context.text


async def test_values_belong_to_their_path(saga: Saga, chat: Frontend) -> None:
    await told(chat, "I pay.", "She nods.", "gold: -3\npresent: [Mina]")
    del chat.history[-1]
    turn = await chat.begin(None)
    turn.replies[0].feed("She haggles.\n\n```state\ngold: 4\npresent: [Mina]\n```")
    await turn.commit()
    assert (await values(saga, chat))["gold"] == "4/999 coins"


async def test_an_undeclared_key_is_kept_and_can_be_declared(saga: Saga, chat: Frontend) -> None:
    await told(chat, "I cast.", "Sparks fly.", "mana: 5\npresent: []")
    await told(chat, "Again.", "More sparks.", "mana: 3\npresent: []")
    session = session_of(chat)
    state = await saga.views.describe(session)
    assert [(row["key"], row["value"], row["times"]) for row in state["observed"]] == [("mana", "3", 2)]
    change = await saga.memory.correct(session, "declare", {"declaration": "mana | start=3 | range=0..9"})
    await told(chat, "Once more.", "A flash.", "mana: -2\npresent: []")
    assert (await values(saga, chat))["mana"] == "1/9"
    await saga.memory.undo(session, change)
    assert "mana" not in await values(saga, chat)


async def test_a_correction_stands_and_is_undone_and_explained(saga: Saga, chat: Frontend) -> None:
    await told(chat, "I pay.", "She nods.", "gold: -3\npresent: [Mina]\naffection: {Mina: 2}")
    session = session_of(chat)
    seen = await saga.memory.preview(session, "tracker", {"tracker": "gold", "value": "50"})
    assert [row["is"]["number"] for row in seen["effect"]] == [50]
    change = await saga.memory.correct(session, "tracker", {"tracker": "Gold", "value": "50"})
    await saga.memory.correct(session, "tracker", {"tracker": "affection", "value": "friendly", "who": "Mina"})
    await saga.memory.correct(session, "tracker", {"tracker": "time", "value": "Saturday 19:00"})
    last = await told(chat, "I pay again.", "She smiles.", "gold: -1\ntime: +1h\npresent: [Mina]")
    found = await values(saga, chat)
    assert (found["gold"], found["affection/Mina"], found["time"]) == (
        "49/999 coins",
        "+30 (friendly)",
        "Day 6, Saturday, 20:00",
    )
    lines = {row["kind"]: row for row in (await saga.memory.lines(session))["lines"]}
    assert (lines["tracker:gold"]["turn_id"], lines["tracker:affection"]["by"]) == (last, "edit")
    await saga.memory.undo(session, change)
    assert (await values(saga, chat))["gold"] == "6/999 coins"
    with pytest.raises(BadInput, match="tracker: 'mana' is not counted in this story; it counts gold, affection"):
        await saga.memory.correct(session, "tracker", {"tracker": "mana", "value": "1"})
    with pytest.raises(BadInput, match="value: 'much' is no whole number"):
        await saga.memory.correct(session, "tracker", {"tracker": "gold", "value": "much"})


async def test_two_paths_are_compared(saga: Saga, chat: Frontend) -> None:
    first = await told(chat, "I pay.", "She nods.", "gold: -3\npresent: [Mina]")
    second = await told(chat, "I work.", "She pays.", "gold: +9\noutfit: {Mina: apron}\npresent: [Mina]")
    session = session_of(chat)
    found = await saga.timelines.compare(session, first, second)
    assert {each.subject: (each.one, each.other) for each in found.differences if each.kind == "tracker"} == {
        "gold": ("7/999 coins", "16/999 coins"),
        "outfit (Mina)": (None, "apron"),
    }


async def test_a_request_declares_and_a_removed_tracker_stays_removed(saga: Saga, chat: Frontend) -> None:
    luck = tracker_of({"name": "luck", "start": "1"})
    turn = await chat.begin("I toss a coin.", trackers=[luck])
    assert "luck: 1" in turn.context.text
    turn.replies[0].feed("Heads.\n\n```state\nluck: +1\npresent: []\n```")
    await turn.commit()
    assert (await values(saga, chat))["luck"] == "2"
    session = session_of(chat)
    await saga.memory.correct(session, "undeclare", {"tracker": "luck"})
    chat.history += [{"role": "user", "content": "I toss a coin."}, {"role": "assistant", "content": "Heads."}]
    turn = await chat.begin("Again.", trackers=[luck])
    assert "luck" not in turn.plan.text()


@pytest.mark.parametrize("body", ["gold: many", "affection: +3"])
async def test_what_cannot_be_read_is_a_problem(saga: Saga, chat: Frontend, body: str) -> None:
    await told(chat, "I wait.", "Nothing stirs.", f"present: [Mina, Joon]\n{body}")
    session = session_of(chat)
    (problem, *_) = (await saga.views.describe(session))["problems"]
    assert problem["text"].startswith(f"state block: {body.partition(':')[0]}: ")


def test_a_wrong_declaration_in_the_configuration_names_it() -> None:
    with pytest.raises(BadInput, match=r"trackers.*give gold a valid declaration: kind: 'nummer' is not known"):
        load_config({"trackers": {"gold": {"kind": "nummer"}}})


# -- profiles ----------------------------------------------------------------------------------------------------------

ROMANCE = "Mina is your childhood friend and classmate. She has a crush on you and blushes. A slice of life romance."
FIGHTING = re.compile(r"\b(?:HP|hit points?|health|hostile|combat|wound\w*|fight\w*|lose \d)", re.I)


@pytest.fixture
async def plain_saga() -> AsyncIterator[Saga]:
    async with Saga.open(load_config({"storage": {"profile": "memory"}})) as opened:
        yield opened


async def test_a_romance_of_a_card_alone_is_never_asked_or_told_of_hit_points(plain_saga: Saga) -> None:
    saga, chat = plain_saga, Frontend(plain_saga, greeting="She waves from the gate.", system=ROMANCE, note="")
    for number in range(1, 41):
        turn = await chat.begin(f"We walk on, part {number}.")
        assert not FIGHTING.search("\n".join(b.text for b in turn.plan.blocks)), number
        block = f"affection: {{Mina: +{number % 3}}}\ntrust: {{Mina: +1}}\njealousy: {{Mina: {number % 5}}}"
        turn.replies[0].feed(f"Mina laughs, {number}.\n\n```state\npresent: [Mina]\n{block}\nnotes: A kite.\n```")
        (recorded,) = await turn.commit()
        said = (("user", f"We walk on, part {number}."), ("assistant", recorded.reply))
        chat.history += [{"role": role, "content": text} for role, text in said]
        state = await saga.views.describe(session_of(chat))
        found = {row["name"]: row["value"] for row in state["trackers"]}
        expected = sum(each % 3 for each in range(1, number + 1)), number, number % 5
        assert (found["affection"], found["trust"], found["jealousy"]) == expected
    assert (state["profile"], state["hp"]) == ("romance", None)
    pages, _ = await saga.views.pages(session_of(chat))
    assert pages is None or "HP" not in pages.files["state.md"]
    assert not [row for row in (await saga.memory.lines(session_of(chat)))["lines"] if row["kind"] == "hp"]


async def test_the_profile_is_changed_at_any_turn_and_undone(plain_saga: Saga) -> None:
    saga, chat = plain_saga, Frontend(plain_saga, greeting="The gate opens.", system="You narrate.", note="")
    turn = await chat.begin("I go in.")
    assert "\nhp_change: " in turn.plan.text()
    await told(chat, "I go in.", "A hall.", "hp_change: -5\npresent: []")
    id_ = session_of(chat)
    change = await saga.memory.correct(id_, "profile", {"profile": "plain"})
    turn = await chat.begin("I look.")
    assert "hp_change" not in turn.plan.text() and "HP" not in turn.context.text
    await told(chat, "I look.", "Dust.", "hp: 3/10\npresent: []")
    assert (await saga.views.describe(id_))["hp"] is None
    await saga.memory.undo(id_, change)
    assert (await saga.views.describe(id_))["hp"] == 3
    with pytest.raises(BadInput, match="profile: 'horror' is not known; use one of adventure, romance"):
        await saga.memory.correct(id_, "profile", {"profile": "horror"})


async def test_who_goes_back_to_a_sort_of_story_has_what_the_last_reply_reported(plain_saga: Saga) -> None:
    saga, chat = plain_saga, Frontend(plain_saga, greeting="She waves from the gate.", system=ROMANCE, note="")
    await told(chat, "We walk.", "Mina laughs.", "present: [Mina]\noutfit: {Mina: work shirt}\ntime: Wednesday 19:00")
    await told(chat, "We mourn.", "She nods.", "present: [Mina]\noutfit: {Mina: black dress}\ntime: Friday 11:00")
    before = await saga.memory.lines(session_of(chat))
    for profile in ("adventure", "romance"):
        await saga.memory.correct(session_of(chat), "profile", {"profile": profile})
        assert (await saga.views.describe(session_of(chat)))["problems"] == []
    assert await saga.memory.lines(session_of(chat)) == before


@pytest.mark.parametrize("profile", PROFILES)
async def test_who_died_is_told_as_dead_in_every_sort_of_story(plain_saga: Saga, profile: str) -> None:
    chat = Frontend(plain_saga, greeting="The lamp is lit.", system="You narrate.", note="")
    await told(chat, "I wait.", "Tam coughs.", "present: [Old Tam, Mira]", profile=profile)
    await told(chat, "I hold his hand.", "Old Tam is dead.", "present: [Mira]\nstatus: {Old Tam: dead}")
    turn = await chat.begin("We bury him.")
    assert "Dead: Old Tam (since turn 2)" in turn.context.text
    assert ("status_changes" in turn.plan.text()) is (profile != "plain")


async def test_an_imported_chat_of_a_card_that_speaks_of_love_is_a_romance(tmp_path: Path) -> None:
    (tmp_path / "saga.yaml").write_text("storage: {profile: memory}\n", encoding="utf-8")
    files = [("Ysolde.json", samples.plain(samples.card_v2(description=ROMANCE))), ("chat.jsonl", samples.st_chat())]
    async with Saga.open(load_config(tmp_path / "saga.yaml")) as saga:
        things = (await saga.maintenance.import_files(files, ImportOptions())).things
        (session,) = [each.session for each in things if each.session]
        state = await saga.views.describe(session)
        assert (state["profile"], state["hp"]) == ("romance", None)


async def test_a_card_says_what_is_told_also_where_the_first_turns_were_told_without_saga(plain_saga: Saga) -> None:
    chat = Frontend(plain_saga, greeting="She waves from the gate.", system=ROMANCE, note="")
    chat.history = [
        {"role": "user", "content": "I wave."},
        {"role": "assistant", "content": "Mina blushes, and waits."},
    ]
    await told(chat, "We walk on.", "She takes your arm.", "present: [Mina]")
    assert (await plain_saga.views.describe(session_of(chat)))["profile"] == "romance"


async def test_a_request_chooses_the_profile_once(plain_saga: Saga) -> None:
    chat = Frontend(plain_saga, greeting="A body in the library.", system="You narrate.", note="")
    turn = await chat.begin("I look.", profile="mystery")
    assert "\nclues: [+<item>, -<item>]\n" in turn.plan.text() and "hp_change" not in turn.plan.text()
    await told(chat, "I look.", "A button.", "clues: [+button]\npresent: []")
    await plain_saga.memory.correct(session_of(chat), "profile", {"profile": "adventure"})
    turn = await chat.begin("And?", profile="mystery")
    assert "\nhp_change: " in turn.plan.text()


@pytest.mark.parametrize(
    ("card", "profile"),
    [
        (ROMANCE, "romance"),
        ("소꿉친구이자 짝사랑 상대. 연애 이야기, 설렘과 고백.", "romance"),
        ("幼馴染との恋愛。告白とデート。", "romance"),
        ("侦探小说：凶手、线索、证据与嫌疑人。", "mystery"),
        ("A detective investigates a murder; suspects, clues, an alibi.", "mystery"),
        ("A romance in a war: a knight kisses his lover before battle, sword in hand.", ""),
        ("You are a helpful narrator.", ""),
        ("A dungeon quest with monsters and combat.", ""),
    ],
)
def test_a_profile_is_guessed_from_a_card_that_speaks_clearly(card: str, profile: str) -> None:
    assert guessed_profile(card) == profile


def test_the_sort_of_a_story_is_guessed_from_the_beginning_of_a_long_text() -> None:
    clues = " alibi detective murder suspect clue corpse"
    assert guessed_profile("." * 60_000 + clues) == "mystery"
    assert guessed_profile("." * 70_000 + clues) == ""


@pytest.mark.parametrize("language", ["en", "ko", "ja", "zh"])
def test_a_plain_story_is_asked_half_as_much(language: str) -> None:
    plain = NO_TRACKERS.in_profile("plain", trackers_of("plain", language))
    assert len(instruction(language, counted=plain)) <= len(instruction(language)) / 2


@pytest.mark.parametrize("language", ["en", "ko", "ja", "zh"])
def test_the_examples_suit_a_romance(language: str) -> None:
    form = instruction(language, counted=NO_TRACKERS.in_profile("romance", trackers_of("romance", language)))
    assert "status_changes" in form
    assert not any(word in form for word in ("dead", "hostile", "hp_change"))


async def test_what_the_profile_does_not_count_is_not_told_if_it_is_reported(plain_saga: Saga) -> None:
    chat = Frontend(plain_saga, greeting="", system="You narrate.", note="")
    turn = await chat.begin("I wait.", profile="plain")
    report = "present: [Mina]\nitems_gained: [sword]\nmood: grim\nrelationship_changes: [Mina -> Player: hostile -2]"
    turn.replies[0].feed(f"Mina nods.\n\n```state\n{report}\n```")
    await turn.commit()
    chat.history += [{"role": "user", "content": "I wait."}, {"role": "assistant", "content": "Mina nods."}]
    text = (await chat.begin("And now?")).context.text
    assert "Mina" in text and not any(word in text for word in ("sword", "grim", "hostile"))


async def test_a_name_may_stand_before_a_value_without_brackets(saga: Saga, chat: Frontend) -> None:
    turn = await chat.say("Hello.", "They nod.\n\n```state\npresent: [Mina, Joon]\naffection: Mina: +5, Joon: -3\n```")
    rows = (await saga.describe(turn.session.id))["trackers"]
    assert {row["who"]: row["value"] for row in rows if row["name"] == "affection"} == {"Mina": 5, "Joon": -3}


async def test_a_text_may_stand_behind_a_name(saga: Saga, chat: Frontend) -> None:
    turn = await chat.say(
        "Hello.", "They nod.\n\n```state\npresent: [Mina, Joon]\noutfit: Mina red coat, Joon hat\n```"
    )
    rows = (await saga.describe(turn.session.id))["trackers"]
    assert {row["who"]: row["value"] for row in rows if row["name"] == "outfit"} == {"Mina": "red coat", "Joon": "hat"}


async def test_a_feeling_between_two_who_are_here_is_told(saga: Saga, chat: Frontend) -> None:
    await told(chat, "Hello.", "They nod.", "present: [Mina, Joon]\naffection: {Mina -> Joon: +40}")
    assert "Mina (→ Joon affection: +40 (friendly))" in (await chat.begin("And now?")).context.text


@pytest.mark.parametrize(("key", "name"), [("affection", "호감"), ("Time", "시각"), ("計画", "계획"), ("gold", None)])
def test_what_is_often_counted_has_its_name_in_every_language(key: str, name: str | None) -> None:
    found = NO_TRACKERS.in_profile("romance", trackers_of("romance", "ko")).find(key)
    assert (found.name if found is not None else None) == name


async def test_a_story_that_becomes_an_adventure_has_hit_points(plain_saga: Saga) -> None:
    chat = Frontend(plain_saga, session="x")
    begun = await chat.begin("I go.", profile="romance")
    await answer(begun, "Rain.", mood="calm")
    chat.history += [{"role": "user", "content": "I go."}, {"role": "assistant", "content": "Rain."}]
    await plain_saga.memory.correct("x", "profile", {"profile": "adventure"})
    await chat.say("I fall.", "It hurts.", hp_change=-10)
    state = await plain_saga.describe("x")
    assert (state["hp"], state["max_hp"]) == (90, 100)
