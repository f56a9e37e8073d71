"""A model reads the card of a new session once; only what the card says counts, and it can be undone."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from saga_core import Saga
from saga_core.errors import UpstreamError
from saga_core.extraction.card import reading_of
from saga_core.model import Kind
from tests.core.extraction.scripted import Scripted
from tests.core.frontend import Frontend

CARD = (
    "The tug Magpie. Desmond Okafor cuts hulls, and he answers to no name but Dezzo among friends. He never lays"
    " aside his plasma cutter. Brannick Sole flies; on the docks they call him the Ox. Do not write Desmond's lines."
)
ANSWER = {
    "player": "Desmond Okafor",
    "player_also": ["Dezzo", "the Knife"],
    "people": [{"name": "Brannick Sole", "also": ["the Ox"]}],
    "carries": [{"thing": "plasma cutter", "count": 1}, {"thing": "jetpack", "count": 1}],
}
CONFIG = {"storage": {"profile": "memory"}}


def reply(text: str, body: str) -> str:
    return f"{text}\n\n```state\n{body}\n```"


def model(answer: dict[str, Any] | Exception = ANSWER) -> Scripted:
    return Scripted(deque([answer if isinstance(answer, Exception) else json.dumps(answer)]))


async def played(saga: Saga, *turns: str, said: str = "…") -> tuple[str, Any]:
    chat = Frontend(saga, system=CARD, greeting="", note="")
    for body in turns:
        await chat.say(said, reply("Vacuum.", body))
        await saga.background.drain(20)
    assert chat.last is not None
    return chat.last.session.id, await saga.views.state(chat.last.session.id)


async def test_other_names_and_what_is_carried_come_from_the_card() -> None:
    small = model()
    async with Saga.open(CONFIG, extractor=small) as saga:
        _, state = await played(
            saga,
            "location: tug\npresent: [the Ox]\nitems_transferred: [{item: wrench, from: the Ox, to: Dezzo}]",
            "present: [Brannick]\nitems_transferred: [{item: wrench, from: Dezzo, to: Brannick Sole}]",
        )
        assert len(small.asked) == 1
        assert len(list(state.of_kind(Kind.CHARACTER))) == 2
        assert "Dezzo" in state.entities[state.player].names
        assert "the Knife" not in state.entities[state.player].names, "the card does not say so"
        assert {state.name(item) for item in state.belongings[state.player]} == {"plasma cutter"}


async def test_what_a_weak_model_mixes_up_is_dropped() -> None:
    """The answer of a model of 1.5 billion parameters, word for word."""
    card = (
        "Write Captain Sole's next reply in a fictional chat between Captain Sole and Desmond. Captain Brannick Sole"
        " flies the salvage tug Magpie; the dockers call him the Ox. Desmond Okafor, the crew calls Dez, cuts hulls."
        " He carries a plasma cutter and a photo of his sister Nell."
    )
    answer = {
        "player": "Captain Sole",
        "player_also": ["Desmond Okafor", "Dez", "Nell"],
        "people": [{"name": "Captain Brannick Sole", "also": ["the Salvage tug Magpie", "the Ox"]}],
        "carries": [{"thing": "plasma cutter", "count": 1}],
    }
    found = reading_of(answer, card)
    assert found.player == ""
    assert found.player_also == ("Desmond Okafor", "Dez")
    assert found.people == (("Captain Brannick Sole", ("the Ox",)),)


def test_a_title_ends_no_clause_and_a_name_beside_the_players_is_hers() -> None:
    card = (
        "Tamsin Pascoe, 29, baker.\n\nDenzil builds boats. The village says Tam for Tamsin Pascoe, or simply the baker."
        " Cornelius Pryce (Mr. Pryce) is lost."
    )
    people = [{"name": "Cornelius Pryce", "also": ["Mr. Pryce", "Denzil"]}]
    found = reading_of(
        {"player": "Tamsin Pascoe", "player_also": ["Tam", "the baker", "Denzil"], "people": people}, card
    )
    assert found.player_also == ("Tam", "the baker")
    assert found.people == (("Cornelius Pryce", ("Mr. Pryce",)),)


async def test_a_father_is_not_his_son_because_a_name_may_mean_both() -> None:
    card = "周屿，三十岁，面馆的少东家，街坊叫他小周。他父亲周建国就是老周，也叫周师傅。玩家是林晚晴。"
    people = [{"name": "周建国", "also": ["老周", "周师傅"]}, {"name": "周屿", "also": ["小周"]}]
    answer = {"player": "林晚晴", "player_also": [], "people": people, "carries": []}
    async with Saga.open(CONFIG, extractor=model(answer)) as saga:
        chat = Frontend(saga, system=card, greeting="", note="")
        for names in ("周屿", "小周, 老周"):
            await chat.say("…", reply("面馆里很暖和。", f"location: 面馆\npresent: [{names}]"))
            await saga.background.drain(20)
        assert chat.last is not None
        state = await saga.views.state(chat.last.session.id)
        assert {state.name(who) for who in state.present} == {"周屿", "周建国"}


def test_an_amount_in_words_is_read_as_in_a_block() -> None:
    card = "이름: 강도윤. 낡은 우산과 은화 세 닢을 지니고 다닌다."
    assert reading_of({"carries": [{"thing": "은화 세 닢", "count": 1}]}, card).carries == (("은화", 3),)


def test_a_thing_of_one_character_is_carried() -> None:
    card = "水野涼は二十六歳の探り屋。懐に銀の懐中時計、母の形見の簪、財布に二十円を持っている。"
    carried = [("銀の懐中時計", 1), ("簪", 1), ("円", 20)]
    told = [{"thing": thing, "count": count} for thing, count in (*carried, ("剣", 1))]
    assert reading_of({"carries": told, "player": "涼"}, card).carries == tuple(carried)


async def test_the_next_chat_of_the_card_costs_no_call() -> None:
    small = model()
    async with Saga.open(CONFIG, extractor=small) as saga:
        first, _ = await played(saga, "location: tug")
        second, state = await played(saga, "location: dock", said="I dock.")
        assert first != second
        assert len(small.asked) == 1
        assert "Dezzo" in state.entities[state.player].names


async def test_another_reply_to_the_first_words_reads_nothing_again() -> None:
    small = model()
    async with Saga.open(CONFIG, extractor=small) as saga:
        chat = Frontend(saga, system=CARD, greeting="", note="")
        await chat.say("…", reply("Vacuum.", "location: tug"))
        await saga.background.drain(20)
        del chat.history[-2:]
        await chat.say("…", reply("Stars.", "location: tug"))
        await saga.background.drain(20)
        assert chat.last is not None
        assert len(small.asked) == 1
        assert len(await saga.memory.changes(chat.last.session.id)) == 1


async def test_the_change_is_listed_and_undone() -> None:
    async with Saga.open(CONFIG, extractor=model()) as saga:
        session, _ = await played(saga, "location: tug")
        (change,) = await saga.memory.changes(session)
        await saga.memory.undo(session, change["id"])
        state = await saga.views.state(session)
        assert not state.belongings.get(state.player)


async def test_a_thing_that_the_story_knows_is_not_given_a_second_time() -> None:
    async with Saga.open(CONFIG, extractor=model()) as saga:
        _, state = await played(saga, "items_gained: [plasma cutter]")
        assert [stack.quantity for stack in state.belongings[state.player].values()] == [1]


async def test_a_model_that_fails_is_said_and_the_story_goes_on() -> None:
    async with Saga.open(CONFIG, extractor=model(UpstreamError("no", status=500))) as saga:
        _, state = await played(saga, "location: tug", "location: dock")
        status = await saga.status()
        assert state.location is not None and state.name(state.location) == "dock"
        assert status["counters"]["cards.failures"] == 1
        assert "extraction.cards" in json.dumps(status)


async def test_the_setting_turns_it_off() -> None:
    small = model()
    async with Saga.open({**CONFIG, "extraction": {"cards": False}}, extractor=small) as saga:
        await played(saga, "location: tug")
        assert small.asked == []
