"""Somebody who leaves is not told as still there."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.state_block import StatusChange
from tests.core.frontend import Frontend, answer, memory_config


async def test_who_left_is_no_longer_there_and_who_stays_behind_is() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        history: list[dict[str, Any]] = [{"role": "system", "content": "Tell a story."}]
        told = ""

        async def say(words: str, reply: str, **fields: Any) -> str:
            nonlocal told
            history.append({"role": "user", "content": words})
            turn = await saga.begin(history)
            history.append({"role": "assistant", "content": await answer(turn, reply, **fields)})
            told = turn.context.text
            return turn.session.id

        await say("Hello.", "Both are here.", location="inn", present=("Mina", "Rafe"))
        await say("Out, Rafe.", "He goes.", present=("Mina",), npc_separated=("Rafe",))
        session = await say("I go up.", "Mina stays.", location="attic", present=(), npc_separated=("Mina",))
        await say("I wait.", "Nobody comes.", present=())
        assert "Rafe → inn (was there and left)" in told
        assert "Mina → inn (there since turn 1)" in told
        lines = (await saga.memory.lines(session))["lines"]
        assert sorted(line["text"] for line in lines if line["kind"] == "elsewhere") == ["", "inn"]


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("The harbour lies grey. Mina hugs you and boards the ferry.", "Mina Ellison → Harbour (was there and left)"),
        ("The harbour lies grey. Mina waits at the inn.", "Mina Ellison → inn (there since turn 1)"),
        ("Mina waves from the door. The harbour lies grey.", "Mina Ellison → inn (there since turn 1)"),
        ("The harbour lies grey.", "Mina Ellison → inn (there since turn 1)"),
    ],
)
@pytest.mark.parametrize("listed", [(), None])
async def test_who_came_along_to_a_new_place_left_from_there(reply: str, told: str, listed: tuple[str, ...]) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The inn is full.", "Tell a story.", "Be brief.")
        await chat.say("In.", "She nods.", location="inn", present=("Mina Ellison",))
        gone = ("Mina Ellison",)
        await chat.say("To the harbour.", reply, location="Harbour", present=listed, npc_separated=gone)
        await chat.say("I wait.", "Rain.", present=())
        assert told in (await chat.begin("Where is Mina Ellison?")).context.text


async def test_who_stays_behind_on_the_way_back_to_a_known_place_was_never_there() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The barge lies low.", "Tell a story.", "Be brief.")
        await chat.say("In.", "He nods.", location="barge", present=("Otter",))
        await chat.say("Up.", "She has baked.", location="Tansy's kitchen", present=("Otter", "Tansy"))
        reply = "The barge goes out on the ebb. Tansy stands on the jetty and rings the bell."
        await chat.say("We sail.", reply, location="barge", present=("Otter",), npc_separated=("Tansy",))
        assert "Tansy → Tansy's kitchen (there since turn 2)" in (await chat.begin("Where is Tansy?")).context.text


async def test_who_is_met_and_leaves_in_one_turn_is_not_here() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The inn is full.", "Tell a story.", "Be brief.")
        met = {"npc_met": ("Mina",), "npc_separated": ("Mina",)}
        await chat.say("To the harbour.", "Mina nods and goes.", location="Harbour", location_moved=True, **met)
        assert "Mina" not in (await chat.begin("I wait.")).context.text.partition("Present")[2].partition("\n")[0]


async def test_who_was_not_seen_in_the_turn_before_leaves_too() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga)
        await chat.say("I enter.", "Sophie looks up.", location="studio", present=("Sophie",))
        await chat.say("To the inn.", "Cabbage.", location="inn", present=("Jan",), npc_separated=("Sophie",))
        gone: tuple[str, ...] = ("Sophie", "Jan")
        await chat.say("Back.", "She goes out.", location="studio", present=(), npc_separated=gone)
        told = (await chat.say("I wait.", "Ink.", present=())).context.text
        assert "Nearby" not in told
        assert "Jan → inn (there since turn 2)" in told
        await chat.say("To the inn.", "Jan waves.", location="inn", present=("Jan",))
        await chat.say("Up.", "Dark.", location="attic", present=())
        await chat.say("Down.", "Nobody.", location="inn", present=())
        told = (await chat.say("Jan?", "He goes.", present=(), npc_separated=("Jan",))).context.text
        assert "Nearby" not in told and "Jan → inn (was there and left)" in told
        told = (await chat.say("I wait.", "Rain.", present=(), npc_separated=("Sophie",))).context.text
        assert "Nearby" not in told
        told = (await chat.say("I wait.", "Rain.", present=())).context.text
        assert "Nearby" not in told


async def test_who_is_not_found_where_she_was_left_is_gone_from_there_until_she_is_seen_again() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        await chat.say("In.", "They nod.", location="sick bay", present=("Kit", "Ada"))
        await chat.say("Up.", "Wind.", location="deck", present=())
        assert "Kit → sick bay (there since turn 1)" in (await chat.begin("Kit?")).context.text
        await chat.say("Down.", "Ada is alone.", location="sick bay", present=("Ada",))
        told = (await chat.say("Kit?", "Kit comes in.", present=("Ada", "Kit"))).context.text
        assert "Nearby" not in told and "Kit → sick bay (was there and left)" in told
        assert "Kit → " not in (await chat.begin("Hello, Kit.")).context.text


@pytest.mark.parametrize(
    "report",
    [
        {"npc_separated": ("Ada",)},
        {"status_changes": (StatusChange("Ada", "gone ashore by helicopter"),)},
        {"event_trigger": "Ada disappears from the sick bay"},
        {"notes": "It rains. Ada flew ashore with the body."},
        {"notes": "Ada left with Kit"},
        {"event_trigger": "Ada is led away by two guards"},
        {"event_trigger": "Ada leaves the company for the convent of Saint Ebbe"},
        {"notes": "Ada sets off for Hollin."},
    ],
)
async def test_who_is_reported_gone_is_not_where_she_was_before(report: dict[str, Any]) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        await chat.say("In.", "She nods.", location="sick bay", present=("Ada",))
        await chat.say("Up.", "Wind.", location="deck", present=())
        await chat.say("I wait.", "Rain.", present=())
        await chat.say("I wait.", "Ada runs past you and climbs in.", present=(), **report)
        told = (await chat.begin("Where is Ada?")).context.text
        assert "sick bay (was there and left)" in told and "since turn 1" not in told


@pytest.mark.parametrize(
    ("who", "note"),
    [
        ("에이다", "에이다가 경비병에게 끌려갔다"),
        ("エイダ", "エイダは衛兵に連れて行かれた"),
        ("艾达", "艾达被卫兵带走了"),
    ],
)
async def test_the_page_of_somebody_led_away_names_no_place(who: str, note: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        await chat.say("In.", "She nods.", location="sick bay", present=(who,))
        turn = await chat.say("Up.", "Wind.", location="deck", present=())
        assert (await saga.memory.entity(turn.session.id, who))["place"]["name"] == "sick bay"
        await chat.say("I wait.", "Rain.", present=(), notes=note)
        assert (await saga.memory.entity(turn.session.id, who))["place"] is None


@pytest.mark.parametrize("status", ["left with a scar", "taken off guard"])
async def test_what_only_sounds_like_leaving_moves_nobody(status: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        await chat.say("In.", "She nods.", location="sick bay", present=("Ada",))
        turn = await chat.say(
            "Up.", "Wind.", location="deck", present=(), status_changes=(StatusChange("Ada", status),)
        )
        assert (await saga.memory.entity(turn.session.id, "Ada"))["place"] is not None


async def test_a_list_of_all_who_are_elsewhere_moves_nobody() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        await chat.say("In.", "She nods.", location="sick bay", present=("Ada",))
        await chat.say("Up.", "Wind.", location="deck", present=(), npc_separated=("Ada",))
        await chat.say("I wait.", "You think of Ada.", present=(), npc_separated=("Ada",))
        assert "Ada → sick bay (there since turn 1)" in (await chat.begin("Where is Ada?")).context.text


async def test_the_body_lies_where_it_is_found() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        died = (StatusChange("Tomasz", "dead"),)
        await chat.say("In.", "He eats.", location="mess", present=("Tomasz Wojcik", "Olga Berg"))
        await chat.say("Down.", "Tomasz lies dead.", location="pit", present=(), status_changes=died)
        news = (StatusChange("Olga", "dead"),)
        turn = await chat.say("Up.", "Olga has died in Oslo.", location="deck", present=(), status_changes=news)
        live = await saga.parts.live.get(turn.session.id)
        state = await live.state(live.head)
        places = {state.name(who): state.name(where.place) for who, where in state.whereabouts.items()}
        assert places["Tomasz Wojcik"] == "pit" and places["Olga Berg"] == "mess"


async def test_a_remark_is_told_for_its_moment_and_being_away_ends_with_being_here() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        away = (StatusChange("Ada", "away in Bergen; left hand cut"), StatusChange("Kit", "부산 출장"))
        await chat.say("In.", "They leave.", present=("Mr. Vane (asleep)",), status_changes=away)
        told = (await chat.say("Vane?", "Ada is back.", present=("Mr. Vane", "Ada", "Kit"))).context.text
        assert "Present: Mr. Vane (asleep)" in told
        told = (await chat.begin("So?")).context.text
        assert "Present: Mr. Vane, Ada (left hand cut), Kit\n" in told


@pytest.mark.parametrize("present", [(), None, ("Ada",)])
async def test_how_somebody_is_who_was_met_and_left_in_one_reply_is_told(present: tuple[str, ...] | None) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "Rain on the quay.", "Tell a story.", "")
        gone = {"npc_met": ("Fenn",), "npc_separated": ("Fenn",), "status_changes": (StatusChange("Fenn", "wounded"),)}
        await chat.say("I fight.", "Fenn is in the water, swimming.", location="quay", present=present, **gone)
        asked = await chat.begin("And now?")
        assert "Fenn (wounded) → quay (was there and left)" in asked.context.text


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"status_changes": (StatusChange("Captain Ruck", "sailed on the Good Report"),)}, "(was there and left)"),
        ({"status_changes": (StatusChange("Captain Ruck", "at sea"),)}, "(was there and left)"),
        ({"status_changes": (StatusChange("Captain Ruck", "waits in the mill"),)}, "(was there and left)"),
        ({"status_changes": (StatusChange("Captain Ruck", "waits by the water"),)}, "(there since turn 2)"),
        ({"notes": "Captain Ruck waits with Mother Tansy at the mill"}, "(was there and left)"),
        ({"notes": "Captain Ruck is asleep in the mill"}, "(was there and left)"),
        ({"notes": "Captain Ruck told of the mill"}, "(there since turn 2)"),
        ({"notes": "Captain Ruck was robbed at the mill"}, "(there since turn 2)"),
        ({"notes": "Captain Ruck was born in the mill"}, "(there since turn 2)"),
        ({"notes": "Captain Ruck stays at the harbour of Saltmouth"}, "(there since turn 2)"),
        ({"status_changes": (StatusChange("Captain Ruck", "locked up in Castlemere gaol"),)}, "(was there and left)"),
        ({"status_changes": (StatusChange("Captain Ruck", "都の牢にいる"),)}, "(was there and left)"),
        ({"status_changes": (StatusChange("Captain Ruck", "수도의 감옥에 있다"),)}, "(was there and left)"),
        ({"status_changes": (StatusChange("Captain Ruck", "被关在京城的牢里"),)}, "(was there and left)"),
        (
            {"status_changes": (StatusChange("Captain Ruck", "in the gaol by the harbour of Saltmouth"),)},
            "(there since turn 2)",
        ),
        ({"status_changes": (StatusChange("Captain Ruck", "locked up in the cellar"),)}, "(there since turn 2)"),
        (
            {"notes": "Captain Ruck gives Ilse back the boat knife and sails for Lisbon for good"},
            "(was there and left)",
        ),
        ({"notes": "Captain Ruck the ferret has gone missing by the eel stalls; Gesk waits"}, "(was there and left)"),
        ({"notes": "Captain Ruck waves, and Kit sails for Lisbon for good"}, "(there since turn 2)"),
    ],
)
async def test_who_is_said_to_be_elsewhere_is_not_told_at_the_old_place(fields: dict[str, Any], told: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "Rain.", "Tell a story.", "")
        await chat.say("In.", "Flour.", location="mill", present=())
        await chat.say("On.", "He nods.", location="harbour of Saltmouth", present=("Captain Ruck",))
        await chat.say("On.", "Bye.", location="road", present=(), npc_separated=("Captain Ruck",), **fields)
        text = (await chat.begin("Where is Captain Ruck?")).context.text
        assert f"→ harbour of Saltmouth {told}" in text


async def test_who_is_no_longer_listed_and_in_a_prison_is_not_where_she_was_caught() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "三日の朝。", "語り手として続きを書く。", "")
        await chat.say("川口へ行こう。", "権蔵は縄をかけられた。", location="川口の酒蔵", present=("弥七", "権蔵"))
        prison = (StatusChange("権蔵", "都の牢にいる"),)
        await chat.say(
            "灰浜へ帰る。", "九日の夕方。", location="千鳥屋", present=("弥七", "菊乃"), status_changes=prison
        )
        assert "権蔵 (都の牢にいる) → 川口の酒蔵 (そこを去った)" in (await chat.begin("権蔵は?")).context.text
