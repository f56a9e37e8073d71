"""Sessions in one world: what one changes there, the others see once its story has gone on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import evolve

from saga_backends.memory import MemoryState
from saga_core import BadInput, Saga
from saga_core.errors import StoreUnavailable
from saga_core.state_block import ItemTransfer, StatusChange
from saga_core.stores import Batch, Key
from saga_core.trackers import Secrecy, Tracker, TrackerKind, Whose
from tests.core.extraction.scripted import Scripted, changes
from tests.core.frontend import answer
from tests.core.sessions.shared import held_by, place_of, player, shared_config, state_at, status_of


async def test_what_one_changed_the_other_sees_once_the_story_went_on(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        turn = await rin.status("Kesh", "wounded")
        assert any("shares its world" in each for each in turn.notices)
        seen = await state_at(saga, await ivo.say())
        assert status_of(seen, "Kesh") == "alive"
        await rin.give("Kesh", "Rin", "lamp")  # which proves the turn before, and not this one
        turn = await ivo.say()
        seen = await state_at(saga, turn)
        assert status_of(seen, "Kesh") == "wounded"
        assert held_by(seen, "Kesh") == {"lamp": 1}
        assert "Kesh: wounded" in turn.context.text
        await rin.begin()
        seen = await state_at(saga, await ivo.say())
        assert held_by(seen, "Kesh") == {} and held_by(seen, "Rin") == {"lamp": 1}


async def test_nothing_is_seen_that_the_world_does_not_share(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path, "[things]")) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.say(
            status_changes=(StatusChange("Kesh", "wounded"),),
            items_transferred=(ItemTransfer("lamp", "Kesh", "Rin", 1),),
            event_trigger="The vow of Rin",
            notes="Rin hides a letter",
        )
        await rin.begin()
        turn = await ivo.say()
        seen = await state_at(saga, turn)
        assert (status_of(seen, "Kesh"), held_by(seen, "Kesh"), held_by(seen, "Rin")) == ("alive", {}, {"lamp": 1})
        shown = (
            turn.context.text
            + repr(seen)
            + b"".join(raw for _, raw in await saga.stores.state.scan(("share",))).decode()
        )
        assert "vow" not in shown and "letter" not in shown and "wounded" not in shown


async def test_a_session_of_another_kind_neither_gives_nor_sees(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo, ada = player(saga, "Rin"), player(saga, "Ivo"), player(saga, "Ada", kind="")
        other = player(saga, "Sol", kind="world:the other group")
        for one in (rin, ada, other):
            await one.status("Kesh", f"marked by {one.name}")
            await one.begin()
        for one, status in ((ivo, "marked by Rin"), (ada, "marked by Ada"), (other, "marked by Sol")):
            assert status_of(await state_at(saga, await one.say()), "Kesh") == status


async def test_a_world_that_declares_nothing_shares_nothing(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path, "")) as saga:
        rin = player(saga, "Rin")
        turn = await rin.status("Kesh", "wounded")
        assert any("shares nothing" in each for each in turn.notices)
        await rin.begin()
        assert not await saga.stores.state.scan(("share",))
        with pytest.raises(BadInput, match="shares nothing"):
            await saga.sessions.join(turn.session.id)


async def test_nobody_else_changes_a_players_own_character(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.say(location="Harbour", location_moved=True)
        await rin.begin()
        turn = await ivo.say(location="Mill", location_moved=True)
        seen = await state_at(saga, turn)
        assert place_of(seen, "Rin") == "Harbour" and seen.name(seen.location or "") == "Mill"
        await ivo.say(status_changes=(StatusChange("Rin", "dead"), StatusChange("Ivo", "tired")))
        await ivo.begin()
        turn = await rin.say()
        seen = await state_at(saga, turn)
        assert "Rin: dead" not in turn.context.text
        assert status_of(seen, "Rin") != "dead" and status_of(seen, "Ivo") == "tired"
        assert seen.name(seen.location or "") == "Harbour"


async def test_whom_others_met_under_a_name_before_its_player_came_is_not_beside_the_player(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        bert, ann = player(saga, "Bert"), player(saga, "Ann")
        await bert.say(location="Mill", npc_met=("Ann",), present=("Ann",))
        await bert.status("Ann", "dead")
        await bert.say()
        for _ in range(2):
            turn = await ann.say()
            seen = await state_at(saga, turn)
            called = [each.id for each in seen.entities.values() if "Ann" in each.names]
            assert called == [seen.player] and status_of(seen, "Ann") != "dead"
            assert "Ann: dead" not in turn.context.text


async def test_who_leaves_keeps_what_was_seen_and_sees_nothing_more(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.status("Kesh", "wounded")
        await rin.begin()
        session = (await ivo.say()).session.id
        left = await saga.sessions.leave(session)
        assert (left.kind, left.share) == ("personal", "")
        await rin.status("Kesh", "asleep")
        await rin.begin()
        await ivo.status("Tobin", "gone mad")
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "wounded"
        await saga.sessions.join(session)
        seen = await state_at(saga, await ivo.say())
        assert (status_of(seen, "Kesh"), status_of(seen, "Tobin")) == ("asleep", "gone mad")
        await ivo.begin()
        assert status_of(await state_at(saga, await rin.say()), "Tobin") == "alive"  # it was before the return


async def test_of_two_who_change_the_same_the_one_who_went_on_last_counts_and_it_is_told(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo, sol = (player(saga, name) for name in ("Rin", "Ivo", "Sol"))
        await ivo.status("Kesh", "asleep")
        await rin.status("Kesh", "wounded")
        await rin.say()
        turn = await ivo.say()  # Ivo's turn is proved after Rin's
        assert status_of(await state_at(saga, turn), "Kesh") == "asleep"
        assert any("the latest counts: Kesh: asleep" in each for each in turn.notices)
        turn = await rin.say()
        assert status_of(await state_at(saga, turn), "Kesh") == "asleep"
        assert "[meanwhile, elsewhere in this world] Kesh: asleep" in turn.context.text
        assert status_of(await state_at(saga, await sol.say()), "Kesh") == "asleep"


async def test_a_later_correction_is_published_with_the_next_turn(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        first = await rin.status("Kesh", "wounded")
        second = await rin.say()
        await saga.memory.correct(second.session.id, "status", {"who": "Kesh", "status": "asleep"}, first.id)
        await rin.begin()
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "asleep"


async def test_with_its_session_a_publication_goes_but_not_what_others_saw(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo, sol = (player(saga, name) for name in ("Rin", "Ivo", "Sol"))
        await rin.status("Kesh", "wounded")
        session = (await rin.begin()).session.id
        await ivo.say()
        await saga.sessions.delete(session)
        assert not await saga.stores.state.scan(("share",))
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "wounded"
        assert status_of(await state_at(saga, await sol.say()), "Kesh") == "alive"


async def test_a_journal_that_does_not_answer_costs_the_news_and_not_the_turn(tmp_path: Path) -> None:
    state = Failing()
    async with Saga.open(shared_config(tmp_path), stores={"state": state}) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.status("Kesh", "wounded")
        state.fails = True
        await rin.say()
        assert "world.shared" in saga.counters.degraded
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "alive"
        state.fails = False
        await rin.say()
        assert "world.shared" not in saga.counters.degraded
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "wounded"


class Failing(MemoryState):
    """A state store that fails to write what is shared."""

    fails = False

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        if self.fails and any(key[0] == "shared" for key in batch.puts):
            raise StoreUnavailable("the disk is full")
        await super().commit(batch, expected=expected)


async def test_a_forgotten_name_is_withdrawn(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.say(npc_met=("Quillfeather",), status_changes=(StatusChange("Quillfeather", "wounded"),))
        await rin.status("Kesh", "wounded")
        session = (await rin.begin()).session.id
        await saga.maintenance.forget_name(session, "Quillfeather")
        held = b"".join(raw for _, raw in await saga.stores.state.scan(("share",)))
        assert b"Quillfeather" not in held and b"wounded" in held
        seen = await state_at(saga, await ivo.say())
        assert status_of(seen, "Kesh") == "wounded" and all(
            each.name != "Quillfeather" for each in seen.entities.values()
        )


async def test_a_session_that_was_brought_back_publishes_nothing_twice(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.status("Kesh", "wounded")
        session = (await rin.say()).session.id
        await saga.maintenance.put_in_trash(session)
        await saga.maintenance.restore(session)
        await ivo.status("Kesh", "asleep")
        await ivo.say()
        turn = await rin.say()
        assert turn.session.id == session and turn.session.share == "low-weir"
        assert status_of(await state_at(saga, turn), "Kesh") == "asleep"
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "asleep"


async def test_a_branch_back_is_as_it_was_and_goes_on_in_the_present(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        old = await ivo.say()
        await rin.status("Kesh", "wounded")
        await rin.status("Kesh", "asleep")
        new = await ivo.say()
        assert status_of(await state_at(saga, old), "Kesh") == "alive"
        assert status_of(await state_at(saga, new), "Kesh") == "wounded"
        await rin.say()
        ivo.back(1)
        again = await ivo.say()
        assert again.parent.id == old.id
        states = [status_of(await state_at(saga, turn), "Kesh") for turn in (old, new, again)]
        assert states == ["alive", "wounded", "asleep"]


async def test_what_an_abandoned_branch_published_does_not_come_back_to_its_session(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        first = await rin.say()
        await ivo.status("Kesh", "wounded")
        await ivo.say()
        await rin.status("Kesh", "asleep")
        await rin.say()
        rin.back(2)
        again = await rin.say()
        assert again.parent.id == first.id
        assert status_of(await state_at(saga, again), "Kesh") == "wounded"
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "asleep"


async def test_people_things_and_places_are_where_and_as_others_left_them(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.say(location="Harbour", location_moved=True, npc_met=("Kesh",), present=("Kesh",))
        await rin.say(location="Old Tower", location_moved=True, present=("Kesh",))
        await rin.say(npc_separated=("Kesh",))
        await rin.begin()
        turn = await ivo.say()
        seen = await state_at(saga, turn)
        assert place_of(seen, "Kesh") == "Old Tower" == place_of(seen, "Rin")
        assert "Kesh → Old Tower" in turn.context.text and "Kesh" not in map(seen.name, seen.nearby())
        assert not seen.problems


async def test_the_clock_runs_forward_for_all(tmp_path: Path) -> None:
    clock = Tracker(name="time", kind=TrackerKind.CLOCK, whose=Whose.WORLD, start="1")
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        hours: list[object] = []
        for one, when in ((rin, "day 3, 10:00"), (ivo, "day 2, 08:00"), (rin, ""), (ivo, ""), (ivo, "")):
            turn = await one.say(trackers=(clock,))
            if when:
                await saga.memory.correct(turn.session.id, "tracker", {"tracker": "time", "value": when})
            count = (await state_at(saga, turn)).count(clock)
            hours.append(count.value if count is not None else None)
        day = 24 * 60
        assert hours == [2 * day + 600, day + 480, *[2 * day + 600] * 3]


async def test_others_give_nobody_the_name_of_ones_own_character(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        session = (await ivo.say()).session.id
        await rin.say()
        turn = await ivo.say()
        names = {"Kesh": "Rin", "Tobin": "Player", "Dana": "Captain Dana", "Mill": "Harbour", "lamp": "lantern"}
        for who, name in names.items():
            await saga.memory.correct(session, "rename", {"who": who, "name": name})
        await ivo.begin()
        turn = await rin.say()
        seen = await state_at(saga, turn)
        called = [each.name for each in seen.entities.values() if each.id != seen.player]
        assert sorted(called) == ["Captain Dana", "Harbour", "Ivo", "Kesh", "Mill", "Tobin", "lantern"]
        assert seen.name(seen.player) == "Rin" and "Captain Dana" in turn.context.text


async def test_hours_that_others_tell_run_down_nothing_of_ones_own(tmp_path: Path) -> None:
    warmth = Tracker(name="warmth", start="80", least=0, most=100, decay=-5, hourly=True, event="freezes")
    clock = Tracker(name="time", kind=TrackerKind.CLOCK, whose=Whose.WORLD, start="day 1 16:00")
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await ivo.say(trackers=(warmth, clock))
        turn = await rin.say(trackers=(warmth, clock))
        await saga.memory.correct(turn.session.id, "tracker", {"tracker": "time", "value": "day 10000 08:00"})
        await rin.begin()
        turn = await ivo.say()
        seen = await state_at(saga, turn)
        assert (seen.counted("time"), seen.counted("warmth")) == (9_999 * 24 * 60 + 480, 80)
        assert "freezes" not in seen.event_names
        (notice,) = (each for each in turn.notices if "clock" in each)
        assert "from Day 1" in notice and "to Day 10000" in notice
        await saga.memory.correct(turn.session.id, "tracker", {"tracker": "time", "value": "+2 hours"})
        assert (await state_at(saga, turn)).counted("warmth") == 70, "one's own hours count"
        assert not any("clock" in each for each in (await ivo.begin()).notices)


@pytest.mark.parametrize("who", [Secrecy.PLAYER, Secrecy.CHARACTERS])
async def test_what_a_story_keeps_secret_stays_in_it(tmp_path: Path, who: Secrecy) -> None:
    rage = Tracker(name="rage", whose=Whose.CHARACTER)
    guilt, mask = evolve(rage, name="guilt", secret=who), Tracker(name="mask", whose=Whose.PLACE, secret=who)
    plots = Tracker(name="plots", kind=TrackerKind.THREADS, whose=Whose.WORLD)
    declared = (rage, guilt, mask, plots)
    async with Saga.open(shared_config(tmp_path, "[places, people, events]")) as saga:
        rin, ivo, sol = player(saga, "Rin"), player(saga, "Ivo"), player(saga, "Sol")
        for report in ("plots: [+the poisoning]", "plots: [-the poisoning (she drank it)]"):
            turn = await rin.begin(trackers=declared)
            body = f"present: [Kesh]\nrage: {{Kesh: 41}}\nguilt: {{Kesh: 77}}\nmask: {{Mill: 93}}\n{report}"
            shown = turn.replies[0].feed(f"Part {rin.said}.\n\n```state\n{body}\n```")
            await turn.commit()
            said = f"Rin goes on for the {rin.said}. time."
            rin.chat.history += [{"role": "user", "content": said}, {"role": "assistant", "content": shown}]
        await rin.begin()
        for one, trackers in ((ivo, declared), (sol, (rage, evolve(guilt, secret=Secrecy.NO), mask, plots))):
            told = (await one.say(trackers=trackers)).context.text
            assert "41" in told
            assert not [word for word in ("77", "93", "poisoning", "drank") if word in told], "what others keep secret"
        published = b"".join(raw for _, raw in await saga.stores.state.scan(("share",)))
        assert b"rage" in published and b"guilt" not in published and b"poisoning" not in published


async def test_news_of_what_a_story_keeps_secret_has_no_line(tmp_path: Path) -> None:
    guilt = Tracker(name="guilt", whose=Whose.CHARACTER)
    async with Saga.open(shared_config(tmp_path, "[people]")) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        turn = await rin.begin(trackers=(guilt,))
        shown = turn.replies[0].feed("Part 1.\n\n```state\npresent: [Kesh]\nguilt: {Kesh: 77}\n```")
        await turn.commit()
        rin.chat.history += [
            {"role": "user", "content": "Rin goes on for the 1. time."},
            {"role": "assistant", "content": shown},
        ]
        await rin.begin()
        secret = evolve(guilt, secret=Secrecy.CHARACTERS)
        assert "guilt 77" not in (await ivo.say(trackers=(secret,))).context.text


async def test_who_came_back_and_left_again_has_left(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.say(location="Harbour", location_moved=True, npc_met=("Kesh",), present=("Kesh",))
        await rin.say(npc_separated=("Kesh",))
        await rin.say(location="Mill", location_moved=True, npc_met=("Kesh",), present=("Kesh",))
        await rin.say(npc_separated=("Kesh",))
        await rin.begin()
        await ivo.say(location="Mill", location_moved=True)
        seen = await state_at(saga, await ivo.say())
        assert place_of(seen, "Kesh") == "Mill" and "Kesh" not in map(seen.name, seen.nearby())


async def test_an_edited_reply_says_nothing_again(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.status("Kesh", "wounded")
        await rin.say()
        await ivo.status("Kesh", "asleep")
        await ivo.say()
        rin.back(1)
        rin.chat.history[-1]["content"] += " So it was."
        turn = await rin.say()
        assert status_of(await state_at(saga, turn), "Kesh") == "asleep"
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "asleep"


async def test_a_correction_of_what_is_no_longer_so_is_not_published(tmp_path: Path) -> None:
    async with Saga.open(shared_config(tmp_path)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        first = await rin.status("Kesh", "wounded")
        await rin.status("Kesh", "asleep")
        await rin.say()
        await saga.memory.correct(first.session.id, "status", {"who": "Kesh", "status": "blinded"}, first.id)
        await rin.say()
        assert status_of(await state_at(saga, await ivo.say()), "Kesh") == "asleep"


async def test_what_was_seen_stays_when_a_model_reads_the_reply(tmp_path: Path) -> None:
    told = changes(status_changes=(StatusChange("Tobin", "gone mad"),))
    async with Saga.open(shared_config(tmp_path), extractor=Scripted(otherwise=lambda _: told)) as saga:
        rin, ivo = player(saga, "Rin"), player(saga, "Ivo")
        await rin.status("Kesh", "wounded")
        await rin.say()
        turn = await ivo.begin()
        words = "Ivo goes on for the 1. time."
        shown = await answer(turn, "Tobin laughs at the moon, and does not stop laughing until dawn comes.")
        ivo.chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]
        await ivo.begin()
        await saga.drain(20)
        seen = await state_at(saga, turn)
        assert (status_of(seen, "Kesh"), status_of(seen, "Tobin")) == ("wounded", "gone mad")
        await ivo.begin()
        assert status_of(await state_at(saga, await rin.say()), "Tobin") == "gone mad"
