"""Who knows what: in a group each member is told what that member can know; a narrator is told who does not."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.model import Kind
from saga_core.play.pending_turn import PendingTurn
from saga_core.state_block import StatusChange
from tests.core.frontend import answer, memory_config

NUDGE = {"en": "[Write the next reply only as {name}.]", "ko": "[{name}의 다음 답변만 작성하세요.]"}


class Group:
    """A group chat as SillyTavern sends it: a nudge names who speaks next; each reply has its speaker's name."""

    def __init__(self, saga: Saga, language: str = "en", profile: str = "") -> None:
        self.saga, self.language, self.profile = saga, language, profile
        self.history: list[dict[str, Any]] = []

    async def begin(self, member: str, words: str = "") -> PendingTurn:
        if words:
            self.history.append({"role": "user", "content": words})
        nudge = NUDGE[self.language].format(name=member)
        messages = [
            {"role": "system", "content": f"You are {member}."},
            {"role": "assistant", "content": "The fair begins."},
            *self.history,
            {"role": "system", "content": nudge},
        ]
        return await self.saga.begin(messages, profile=self.profile)

    async def say(self, member: str, reply: str, words: str = "", **fields: Any) -> PendingTurn:
        turn = await self.begin(member, words)
        shown = await answer(turn, f"{member}: {reply}", **fields)
        self.history.append({"role": "assistant", "content": shown})
        return turn

    async def report(self, member: str, words: str, *block: str) -> PendingTurn:
        """As ``say``, with the lines of the state block."""
        turn = await self.begin(member, words)
        turn.replies[0].feed("\n".join((f"{member}: Reply {len(self.history)}.", "", "```state", *block, "```")))
        await turn.commit()
        self.history.append({"role": "assistant", "content": f"{member}: Reply {len(self.history)}."})
        return turn

    async def now(self, member: str, words: str = "And now?") -> str:
        """The block that the member is told, if she speaks next."""
        turn = await self.begin(member, words)
        self.history.pop()
        return turn.context.text


def prompt(turn: PendingTurn) -> str:
    return "\n".join(f"{each.lead}\n{each.content}" for each in turn.plan.blocks)


async def test_a_member_who_is_away_is_told_what_the_player_feels_for_her() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga, profile="romance")
        await group.report("Mina", "Hello.", "present: [Mina, Tobin]", "affection: {Player -> Mina: +40}")
        await group.report("Tobin", "And you?", "present: [Tobin]", "npc_separated: [Mina]")
        assert "Player → affection: +40" in await group.now("Mina")


async def test_a_member_is_not_told_what_happened_without_her() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Mina", "We are all here.", "Hello.", present=("Mina", "Tobin"))
        await group.say("Tobin", "Hello.", present=("Mina", "Tobin"))
        await group.say("Mina", "I go to bed.", "Good night.", npc_separated=("Mina",), present=("Tobin",))
        secret = "The letter in the blue vase is forged."
        await group.say("Tobin", secret, "What is it?", present=("Tobin",), notes="the letter is forged")
        gift = {"items_transferred": (), "items_gained": ()}
        await group.say("Tobin", "Take the silver seal.", "And?", present=("Tobin",), **gift)
        back = await group.begin("Mina", "Mina, what about the letter?")
        assert "forged" not in prompt(back) and "silver seal" not in prompt(back)
        assert "I go to bed" in prompt(back) and "what about the letter" in prompt(back)
        (notice,) = back.notices
        assert notice.startswith("group: Mina was not there for 4 earlier messages")
        group.history.pop()
        knows = await group.begin("Tobin", "Tobin, what about the letter?")
        assert "forged" in prompt(knows) and not knows.notices


async def test_what_she_was_told_of_is_in_her_prompt_from_then_on() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Mina", "We are all here.", "Hello.", present=("Mina", "Tobin"))
        await group.say("Mina", "I go.", npc_separated=("Mina",), present=("Tobin",))
        told = await group.say("Tobin", "The letter is forged.", "What?", present=("Tobin",))
        assert "forged" not in prompt(await group.begin("Mina"))
        await saga.memory.correct(told.session.id, "told", {"who": "Mina", "number": "3", "by": "Tobin"})
        assert "forged" in prompt(await group.begin("Mina"))
        report = await saga.memory.knowledge(told.session.id, about=3)
        mina = next(each for each in report["people"] if each["name"] == "Mina")
        assert (mina["knows"], mina["since"], mina["by"]) == (True, 3, "Tobin")
        await saga.memory.correct(told.session.id, "audience", {"number": "3", "audience": "only", "who": "Tobin"})
        assert "forged" not in prompt(await group.begin("Mina"))


async def test_a_single_thing_is_in_one_hand_wherever_it_went_behind_her_back() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        give = "items_transferred: [{{item: brass compass, from: {}, to: {}}}]".format
        await group.report(
            "Odile", "Hello.", "present: [Odile, Pim]", give("Odile", "Player"), "items_gained: [rope x3]"
        )
        await group.report("Ruck", "Ah.", "present: [Ruck]", "npc_separated: [Odile, Pim]")
        await group.report("Ruck", "Mine.", "present: [Ruck]", give("Player", "Ruck"))
        assert "brass compass" in (await group.now("Odile")).partition("Inventory")[2].partition("\n")[0]
        await group.report("Ruck", "There.", "present: [Ruck, Pim]", give("Ruck", "Pim"))
        told = await group.report("Odile", "I am back.", "present: [Odile]", "npc_separated: [Pim, Ruck]")
        await saga.memory.correct(told.session.id, "told", {"who": "Odile", "number": "4", "by": "Player"})
        now = await group.now("Odile", "What of Pim and the brass compass?")
        assert now.count("brass compass") == 1 and "Pim → brass compass" in now
        assert "rope ×3" in now, "nobody told her that it is gone"
        await group.report("Odile", "Oh!", "present: [Odile, Pim]", "items_lost: [{item: brass compass, from: Pim}]")
        assert "brass compass" not in await group.now("Odile", "And Pim?")


async def test_a_member_is_not_told_a_secret_of_the_morning_after_she_was_left() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Nina", "I yawn.", "I drink.", location="boathouse", present=("Nina",))
        note = "Mrs. Pell confessed that Nina's late husband was murdered; Nina must not know"
        there = {"location": "stable yard", "location_moved": True, "present": ("Mrs. Pell",), "notes": note}
        told = "Her husband was murdered. Nina must not know."
        await group.say("Mrs. Pell", told, "At six I saddle my horse.", npc_separated=("Nina",), **there)
        asked = prompt(await group.begin("Nina", "In the evening I visit Nina."))
        assert "murdered" not in asked and "I yawn" in asked
        group.history.pop()
        await group.say("Nina", "I smile.", "I visit Nina.", location="boathouse", present=("Nina",))
        assert "murdered" not in prompt(await group.begin("Nina", "She spoke of your husband."))
        assert "murdered" in prompt(await group.begin("Mrs. Pell"))


async def test_a_setting_turns_it_off() -> None:
    async with Saga.open(memory_config(default_world=None, group_knowledge=False)) as saga:
        group = Group(saga)
        await group.say(
            "Mina", "I go.", "Hello.", npc_met=("Mina", "Tobin"), npc_separated=("Mina",), present=("Tobin",)
        )
        await group.say("Tobin", "The letter is forged.", "What?", present=("Tobin",))
        assert "forged" in prompt(await group.begin("Mina", "And now?"))


async def test_a_newcomer_knows_nothing_of_before_and_her_own_turns_after() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga, "ko")
        await group.say("토빈", "편지는 위조되었다.", "편지는?", present=("토빈",))
        await group.say("한나", "안녕하세요.", "누구세요?")
        came = await group.begin("한나", "편지 이야기를 들었나요?")
        assert "위조" not in prompt(came) and "안녕하세요" in prompt(came)


async def test_a_member_who_came_later_knows_the_hour_the_feelings_and_what_everybody_sees() -> None:
    config = memory_config(default_world=None)
    async with Saga.open(config) as saga:
        history: list[dict[str, Any]] = []

        async def say(words: str, reply: str, block: str) -> None:
            history.append({"role": "user", "content": words, "name": "Theo"})
            turn = await saga.begin(history, profile="romance")
            turn.replies[0].feed(f"{reply}\n\n```state\n{block}\n```")
            await turn.commit()
            history.append({"role": "assistant", "content": reply, "name": "Elias"})

        await say("Hello.", "Elias is here.", "present: [Elias]\nstatus_changes: [{name: Theo, status: left hand cut}]")
        await say("Come.", "Julian comes.", "present: [Elias, Julian]\ntime: Monday 10:00\naffection: {Julian: +20}")
        await say("Well?", "Both stay.", "present: [Elias, Julian]\ntime: 10:05")
        nudge = {"role": "system", "content": "[Write the next reply only as Julian.]"}
        asked = await saga.begin([*history, {"role": "user", "content": "So?", "name": "Theo"}, nudge])
        told = asked.context.text
        assert "10:05" in told and "affection" in told and "Player: Theo (left hand cut)" in told


async def test_the_narrator_is_told_who_does_not_know_what_matters_now() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        history: list[dict[str, Any]] = []

        async def say(words: str, reply: str, **fields: Any) -> PendingTurn:
            history.append({"role": "user", "content": words})
            turn = await saga.begin([{"role": "system", "content": "Tell a story."}, *history])
            shown = await answer(turn, reply, **fields)
            history.append({"role": "assistant", "content": shown})
            return turn

        await say("Hello.", "Both are here.", npc_met=("Mina", "Tobin"), present=("Mina", "Tobin"))
        await say("Wait.", "Mina leaves.", npc_separated=("Mina",), present=("Tobin",))
        await say("Well?", "Tobin shows it.", present=("Tobin",), notes="The duke's letter is forged")
        await say("And?", "Tobin tells.", present=("Tobin",), notes="Mina took the duke's letter away")
        await say("Aha.", "Mina comes back.", present=("Mina", "Tobin"))
        asked = await say("I show Mina the letter of the duke.", "She reads it.", present=("Mina", "Tobin"))
        assert "Not known to Mina: The duke's letter is forged (turn 3)" in asked.context.text
        assert "Mina took" not in asked.context.text, "who did it knows it"
        other = await say("I order bread.", "It comes.", present=("Mina", "Tobin"))
        assert "Not known" not in other.context.text


@pytest.mark.parametrize(
    ("note", "words", "other"),
    [
        ("Olga died of a fever three days ago in the camp of the northern army", "Olga… she is dead.", "Bread?"),
        ("올가가 사흘 전 열병으로 죽었다", "바르도의 어깨에 손을 얹는다. 올가는…", "빵을 먹는다."),
        ("올가는 사흘 전 북쪽 막사에서 지독한 열병으로 죽었다", "올가가 죽었어요. 열병으로요.", "빵을 먹는다."),
        ("オルガは三日前に北の陣で熱病で死んだ", "オルガが死んだ。", "パンを食べる。"),
        ("奥尔加三天前死于北营的热病", "奥尔加已经死了。", "我吃面包。"),
    ],
)
async def test_words_for_the_time_and_other_endings_make_no_remark_less_known(
    note: str, words: str, other: str
) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Bardo", "Here.", "Hello.", present=("Bardo", "Tobin"))
        await group.say("Bardo", "Off.", npc_separated=("Bardo",), present=("Tobin",))
        died = (StatusChange("Olga", "dead"),) if "Olga" in note else ()
        await group.say("Tobin", "So it is.", present=("Tobin",), notes=note, status_changes=died)
        await group.say("Tobin", "Back.", present=("Bardo", "Tobin"))
        for said, told in ((words, True), (other, False)):
            assert (f"{note} (" in (await group.begin("Tobin", said)).context.text) is told
            group.history.pop()


@pytest.mark.parametrize(
    ("notes", "line"), [(None, "Anselm died (turn 3)"), ("Anselm died of the fever", "Anselm died of the")]
)
async def test_a_death_that_only_a_status_reports_is_not_known_to_who_was_away(notes: str | None, line: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Dorota", "Hm.", "Hello.", present=("Teo", "Dorota", "Anselm"))
        await group.say("Teo", "I ride.", "Ride.", npc_separated=("Teo",), present=("Dorota", "Anselm"))
        died = (StatusChange("Anselm", "dead"),)
        await group.say("Dorota", "He is gone.", "So?", present=("Dorota",), status_changes=died, notes=notes)
        await group.say("Dorota", "There is Teo.", "I wait.", present=("Dorota", "Teo"))
        asked = await group.now("Dorota", "I think of Anselm.")
        assert f"Not known to Teo: {line}" in asked and asked.count("Not known to Teo") == 1
        assert "Not known" not in await group.now("Dorota", "I order bread.")


async def test_a_report_says_who_was_told() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Mina", "We are all here.", "Hello.", present=("Mina", "Tobin"))
        await group.say("Mina", "I go.", npc_separated=("Mina",), present=("Tobin",))
        seen = {"present": ("Tobin",), "notes": "The duke's letter is forged"}
        await group.say("Tobin", "The letter of the duke is forged.", "What?", **seen)
        await group.say("Tobin", "Mina is back.", present=("Mina", "Tobin"))
        teller = await group.begin("Tobin", "Tell Mina of the letter of the duke.")
        hint = "Not known to Mina: The duke's letter is forged (turn 3); if told, report informed: [Mina 3]"
        assert hint in teller.context.text
        group.history.pop()
        both = ("Mina", "Tobin")
        told = await group.say(
            "Tobin", "Listen, Mina.", "Tell her.", present=both, informed=("Mina 3", "Nobody 2", "Mina")
        )
        assert "is forged" in prompt(await group.begin("Mina", "And now?"))
        report = await saga.memory.knowledge(told.session.id, who="Mina")
        assert {"about": 3, "text": "The duke's letter is forged", "knows": True, "since": 5, "by": None} in report[
            "facts"
        ]


async def test_who_was_joined_with_another_is_found_by_her_former_id() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        seen = await group.say("Mina", "We are all here.", "Hello.", present=("Mina", "Tobin"), notes="It rains")
        session = seen.session.id
        mina = (await saga.memory.knowledge(session, who="Mina"))["id"]
        await saga.memory.correct(session, "merge", {"one": "Mina", "into": "Tobin"})
        assert (await saga.memory.knowledge(session, who=mina))["name"] == "Tobin"


async def test_what_is_counted_in_secret_from_characters_is_in_no_members_prompt() -> None:
    doom = {"kind": "number", "start": "7", "secret": "characters", "description": "days until the dam breaks"}
    hunt = {"kind": "number", "start": "5", "secret": "player"}
    ties = {"kind": "meter", "secret": "characters", "description": "whom she would betray"}
    tree = {"storage": {"profile": "memory"}, "session": {"default_world": None}}
    async with Saga.open(load_config({**tree, "trackers": {"doom": doom, "hunt": hunt, "ties": ties}})) as saga:
        group = Group(saga)
        await group.say("Mina", "We are all here.", "Hello.", present=("Mina", "Tobin"))
        turn = await group.begin("Mina", "And now?")
        turn.replies[0].feed("Mina: It rains.\n\n```state\npresent: [Mina, Tobin]\nties: {Mina -> Player: -40}\n```")
        await turn.commit()
        group.history.append({"role": "assistant", "content": "Mina: It rains."})
        for member in ("Mina", "Tobin"):
            said = prompt(await group.begin(member, f"{member}, what comes?"))
            assert "hunt: 5" in said, "secret to the player alone"
            for hidden in ("doom", "dam breaks", "ties", "-40", "betray"):
                assert hidden not in said, (member, hidden)
            group.history.pop()
        everybody = [
            {"role": "system", "content": "Tell a story."},
            *group.history,
            {"role": "user", "content": "Go on."},
        ]
        told = prompt(await saga.begin(everybody))
        assert "doom: 7" in told and "dam breaks" in told and "-40" in told, "one narrator for all knows them"


async def test_a_member_is_told_no_limit_of_what_is_secret_from_characters() -> None:
    guilt = {"for": "character", "range": "0..10", "limit": "breaks down", "secret": "characters"}
    rage = {"for": "character", "range": "0..10", "limit": "draws a knife"}
    tree = {"storage": {"profile": "memory"}, "session": {"default_world": None}}
    async with Saga.open(load_config({**tree, "trackers": {"guilt": guilt, "rage": rage}})) as saga:
        group = Group(saga)
        await group.say("Mina", "We are all here.", "Hello.", present=("Mina", "Tobin"))
        turn = await group.begin("Tobin", "And now?")
        turn.replies[0].feed(
            "Tobin: It rains.\n\n```state\npresent: [Mina, Tobin]\nguilt: {Tobin: 10}\nrage: {Tobin: 10}\n```"
        )
        await turn.commit()
        group.history.append({"role": "assistant", "content": "Tobin: It rains."})
        for member in ("Mina", "Tobin"):
            said = prompt(await group.begin(member, f"{member}, does Tobin break down?"))
            assert "draws a knife" in said and "breaks down" not in said, member
            group.history.pop()
        everybody = [{"role": "system", "content": "A story."}, *group.history, {"role": "user", "content": "Go on."}]
        assert "breaks down" in prompt(await saga.begin(everybody)), "one narrator for all knows it"


async def test_a_member_who_is_the_players_character_is_told_no_secret_of_characters() -> None:
    doom = {"kind": "number", "start": "7", "secret": "characters", "description": "days until the dam breaks"}
    tree = {"storage": {"profile": "memory"}, "session": {"default_world": None}}
    async with Saga.open(load_config({**tree, "trackers": {"doom": doom}})) as saga:
        group = Group(saga)
        said = [{"role": "system", "content": "A story."}]
        turn = await saga.begin([*said, {"role": "user", "content": "Hello."}], player="Ann")
        shown = await answer(turn, "Mina and Tobin wait.", present=("Mina", "Tobin"), npc_met=("Mina", "Tobin"))
        group.history += [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": shown}]
        await saga.memory.correct(turn.session.id, "note", {"text": "The seal is forged"})
        story = [*said, *group.history, {"role": "user", "content": "What comes, and what of the seal?"}]
        asked = prompt(await saga.begin(story, player="Ann", member="Ann"))
        assert "doom" not in asked and "dam breaks" not in asked
        assert "The seal is forged" in asked and "Mina" in asked, "she knows her own story"
        assert "doom: 7" in prompt(await saga.begin(story, player="Ann")), "one narrator for all knows it"


SLEEPERS = {
    "en": ("Mina", "Tobin", "asleep", "unconscious", "over the radio", "not here"),
    "ko": ("미나", "토빈", "잠듦", "의식 불명", "무전", "부재"),
    "ja": ("ミナ", "トビン", "眠っている", "気絶", "無線越し", "不在"),
    "zh": ("米娜", "托宾", "睡着", "昏迷", "通过无线电", "不在场"),
}


@pytest.mark.parametrize("language", SLEEPERS)
async def test_a_sleeper_does_not_know_and_a_voice_on_the_radio_does(language: str) -> None:
    mina, tobin, asleep, fainted, voice, absent = SLEEPERS[language]

    async def told(company: tuple[str, ...], status: str = "") -> bool:
        """Whether Mina knows what is told of in a turn with this company."""
        async with Saga.open(memory_config(default_world=None)) as saga:
            group = Group(saga, "en" if language == "en" else "ko")
            await group.say(mina, "…", "…", present=(mina, tobin))
            changes = (StatusChange(mina, status),) if status else ()
            seen = await group.say(tobin, "…", present=(mina, tobin) if status else (tobin,), status_changes=changes)
            await group.say(tobin, "The seal is forged.", present=company)
            await group.say(tobin, "…", present=(mina, tobin), status_changes=(StatusChange(mina, "alive"),))
            state = await saga.views.state(seen.session.id)
            assert [each.name for each in state.of_kind(Kind.CHARACTER) if each.id != state.player] == [mina, tobin]
            assert "forged" in prompt(await group.begin(tobin))
            return "forged" in prompt(await group.begin(mina))

    assert not await told((tobin, f"{mina} ({asleep})"))
    assert not await told((tobin, f"{mina}（{fainted}）"))
    assert not await told((tobin, mina), status=fainted)
    assert not await told((tobin, mina), status=asleep)
    assert await told((tobin, mina))
    assert await told((tobin, f"{mina} ({voice})"))
    assert not await told((tobin, f"{mina} ({absent})"))


async def test_who_speaks_with_closed_eyes_knows_what_was_said() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Mina", "Hello.", "Hello.", present=("Mina", "Tobin"))
        await group.say("Mina", "The seal is forged, she murmurs.", present=("Mina (asleep)", "Tobin"))
        assert "forged" in prompt(await group.begin("Mina"))


async def test_who_is_here_knows_the_hour_whatever_she_missed() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga, profile="romance")
        await group.report("Mina", "Hello.", "location: the hall", "present: [Mina]", "time: Monday 18:00")
        await group.report("Mina", "I ride out.", "present: []", "npc_separated: [Mina]", "time: Tuesday 9:00")
        await group.report("Mina", "I am back.", "present: [Mina]", "time: Tuesday 12:00")
        await group.report("Mina", "Who is it?", "present: [Mina, Tobin]", "time: +1h")
        await group.report("Mina", "We work.", "present: [Mina, Tobin]", "time: +10m")
        for member in ("Mina", "Tobin"):
            assert "time: Tuesday, 13:10" in await group.now(member), member


async def test_others_are_where_she_saw_them_last() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        both = "present: [Mina, Tobin]"
        await group.report("Mina", "Hello.", "location: the hall", both)
        await group.report("Mina", "Good night.", "present: [Mina]", "npc_separated: [Tobin]")
        await group.report("Mina", "Down.", "location: the cellar", "location_moved: true", "present: [Mina]")
        await group.report("Mina", "Tobin comes down.", both)
        stay = ("location_moved: true", "present: [Tobin]", "npc_separated: [Mina]")
        await group.report("Tobin", "Come along.", "location: the stable", *stay)
        told = prompt(await group.begin("Tobin", "Where is Mina?"))
        assert "Mina → the cellar" in told or "Mina (the cellar)" in told
        assert "Mina → the hall" not in told and "Mina (the hall)" not in told


async def test_who_is_told_of_a_journey_was_not_on_it() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        both = "present: [Mina, Tobin]"
        alone = ("location_moved: true", "present: []", "npc_separated: [Mina]")
        await group.report("Mina", "Hello.", "location: the hall", "present: [Mina]")
        await group.report("Mina", "I ride.", "location: the ford", *alone, "notes: The count is dead")
        await group.report("Mina", "Back.", "location: the hall", "location_moved: true", "present: [Mina]")
        await group.report("Mina", "Tobin comes.", both, "informed: [Tobin 2]")
        await group.report("Mina", "We work.", both)
        stay = ("location_moved: true", "present: [Tobin]", "npc_separated: [Mina]")
        await group.report("Tobin", "Come along.", "location: the mill", *stay)
        told = prompt(await group.begin("Tobin", "Where is Mina?"))
        assert "I ride." in told, "he knows the turn"
        assert "Mina → the hall" in told or "Mina (the hall)" in told
        assert "Mina → the ford" not in told and "Mina (the ford)" not in told


async def test_who_was_away_is_told_no_place_instead_of_an_old_one() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.report("Mina", "Hello.", "location: the hall", "present: [Mina, Tobin]")
        await group.report("Mina", "Good night.", "present: [Mina]", "npc_separated: [Tobin]")
        await group.report("Mina", "Down.", "location: the cellar", "location_moved: true", "present: [Mina]")
        told = await group.now("Tobin", "Come down, Tobin!")
        assert "Tobin speaks" in told and "Place:" not in told and "Nearby" not in told
        assert "the hall" not in told and "cellar" not in told
        await group.report("Tobin", "Come down, Tobin!", "present: [Mina, Tobin]")
        assert "Place: the cellar" in await group.now("Tobin")


async def test_plans_are_known_to_those_who_were_there_when_they_were_made() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga, profile="romance")
        plan = "plans: [+Sleigh ride with Mina (Tuesday 20:00)]"
        await group.report("Mina", "Hello.", "location: the hall", "present: [Mina]", "time: Monday 18:00", plan)
        await group.report("Mina", "Tobin!", "present: [Mina, Tobin]", "plans: [+Chess with Tobin (Tuesday 21:00)]")
        hers, his = await group.now("Mina"), await group.now("Tobin")
        assert "Sleigh ride" in hers and "Chess" in hers and "Chess" in his and "Sleigh" not in his
        await group.report("Mina", "We played.", "present: [Mina, Tobin]", "plans: [-Chess with Tobin]")
        assert "not yet happened; Tuesday, 21:00] Chess" not in await group.now("Tobin")


async def test_plans_that_are_secret_from_characters_are_in_no_members_prompt() -> None:
    tree = {"storage": {"profile": "memory"}, "session": {"default_world": None}}
    async with Saga.open(
        load_config({**tree, "trackers": {"fate": {"kind": "threads", "secret": "characters"}}})
    ) as saga:
        group = Group(saga)
        await group.report("Mina", "Hello.", "present: [Mina]", "fate: [+The dam breaks (soon)]")
        assert "The dam breaks" not in prompt(await group.begin("Mina", "What comes?"))
        group.history.pop()
        story = [{"role": "system", "content": "A story."}, *group.history, {"role": "user", "content": "Go on."}]
        assert "The dam breaks" in prompt(await saga.begin(story)), "one narrator for all knows it"


async def test_the_players_name_is_known_after_turns_away() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        history: list[dict[str, Any]] = []

        async def say(words: str, block: str, member: str) -> str:
            history.append({"role": "user", "content": words, "name": "Ben"})
            nudge = {"role": "system", "content": f"[Write the next reply only as {member}.]"}
            turn = await saga.begin([*history, nudge])
            turn.replies[0].feed(f"Reply {len(history)}.\n\n```state\n{block}\n```")
            await turn.commit()
            history.append({"role": "assistant", "content": f"Reply {len(history)}.", "name": member})
            return prompt(turn)

        await say("Hello.", "present: [Mina]", "Mina")
        await say("Who is it?", "present: [Mina, Tobin]\nstatus_changes: [{name: Player, status: limp}]", "Mina")
        await say("I go.", "location: the gate\npresent: []\nnpc_separated: [Mina, Tobin]", "Mina")
        await say("I look.", "present: []", "Mina")
        told = await say("I send for Tobin.", "present: [Tobin]", "Tobin")
        assert "Player: Ben (limp)" in told and "now called" not in told


async def test_who_is_here_comes_before_what_is_counted_and_no_feeling_is_told_twice() -> None:
    rooms = {"weather": {"kind": "text", "for": "world"}, "house": {"kind": "list", "for": "world"}}
    tree = {"storage": {"profile": "memory"}, "session": {"default_world": None}, "trackers": rooms}
    async with Saga.open(load_config(tree)) as saga:
        group = Group(saga, profile="romance")
        await group.report(
            "Mina",
            "Hello.",
            "location: the hall",
            "present: [Mina, Tobin]",
            "time: Monday 18:00",
            "affection: {Mina: 80, Player -> Mina: 80, Mina -> Tobin: 20}",
            "trust: {Mina: 52}",
            "outfit: {Mina: green dress, Player: pressed shirt}",
            "items_gained: [" + ", ".join(f"thing with a long name {number}" for number in range(20)) + "]",
            "status_changes: [{name: Player, status: limp}]",
            "weather: clear",
            "house: [" + ", ".join(f"+a new door of oak {number}" for number in range(20)) + "]",
        )
        hers, his = await group.now("Mina"), await group.now("Tobin")
        for told in (hers, his):
            assert "Place: the hall" in told and "Player: Player (limp) | Present: Mina" in told
            assert "time: Monday, 18:00" in told
        assert "Player → affection: +80" in hers and hers.count("+80 (in love)") == 2, "his and hers"
        assert "Present: Mina, Tobin" in hers, "what is known of who speaks stands in her own line"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Aunt Morag", "Aunt Morag 1"),
        ("Mr. Orr", "Mr. Orr, turn 1"),
        ("the Duchess", "the Duchess (1)"),
        ("서리 선생", "서리 선생 1"),
        ("이 선생", "이 선생 1턴"),
        ("김 대리", "김 대리: 1"),
        ("Mina", "Mina turn 1"),
    ],
)
async def test_a_report_may_say_that_somebody_with_a_title_was_told(name: str, said: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Tobin", "The letter is forged.", "What?", present=("Tobin",), notes="The letter is forged")
        await group.say("Tobin", "Somebody comes.", "Who?", present=("Tobin", name))
        told = await group.say("Tobin", "Listen.", "Tell.", present=("Tobin", name), informed=(said,))
        facts = (await saga.memory.knowledge(told.session.id, who=name))["facts"]
        assert [each["knows"] for each in facts if each["text"] == "The letter is forged"] == [True]


@pytest.mark.parametrize(
    ("note", "words", "knows"),
    [
        ("Morag told Roz that her heart is failing in secret", "Her heart is failing, I know your secret.", True),
        ("Her heart is failing in secret; Roz has learned of it", "Her heart is failing, I know your secret.", True),
        ("Doc told Jules in secret that her heart is failing; Roz must not know", "Is her heart failing, Doc?", False),
        ("Morag never told Roz that her heart is failing in secret", "Her heart is failing in secret.", False),
        ("Morag told Roz's aunt that her heart is failing in secret", "Her heart is failing in secret.", False),
    ],
)
async def test_who_was_told_as_the_remark_says_knows_it(note: str, words: str, knows: bool) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Doc", "Here.", "Hello.", present=("Roz", "Doc", "Morag"))
        await group.say("Doc", "Off.", npc_separated=("Roz",), present=("Doc", "Morag"))
        await group.say("Doc", "So it is.", present=("Doc", "Morag"), notes=note)
        await group.say("Doc", "We wait.", present=("Doc", "Morag"))
        await group.say("Doc", "Back.", present=("Roz", "Doc", "Morag"))
        assert ("Not known to Roz" not in await group.now("Doc", words)) is knows


@pytest.mark.parametrize(
    ("note", "who", "knows"),
    [
        ("서준이 하은에게 심장이 약하다고 말했다", "하은", True),
        ("서준이 하은에게 심장이 약하다고 말하지 않았다", "하은", False),
        ("서준은 심장이 약하다. 하은은 그 비밀을 알게 되었다", "하은", True),
        ("林さんは美奈に心臓の秘密を打ち明けた", "美奈", True),
        ("林さんは美奈に心臓の秘密を話していない", "美奈", False),
        ("林晚告诉米娜，她的心脏很弱", "米娜", True),
        ("林晚没有告诉米娜，她的心脏很弱", "米娜", False),
        ("林晚告诉米娜的姐姐，她的心脏很弱", "米娜", False),
    ],
)
async def test_who_was_told_is_read_in_each_language(note: str, who: str, knows: bool) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Doc", "Here.", "Hello.", present=(who, "Doc"))
        await group.say("Doc", "Off.", npc_separated=(who,), present=("Doc",))
        await group.say("Doc", "So it is.", present=("Doc",), notes=note)
        await group.say("Doc", "We wait.", present=("Doc",))
        await group.say("Doc", "Back.", present=(who, "Doc"))
        assert (f"informed: [{who} 3]" not in await group.now("Doc", note)) is knows


@pytest.mark.parametrize(
    ("event", "knows"),
    [("The funeral of Nana Bea", True), ("Nana Bea is buried in the rain", True), ("Tea at Nana Bea's house", False)],
)
async def test_the_mourners_at_a_funeral_know_of_the_death(event: str, knows: bool) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Doc", "Here.", "Hello.", present=("Nana Bea", "Doc", "Morag"))
        await group.say("Doc", "Off.", npc_separated=("Morag",), present=("Nana Bea", "Doc"))
        died = (StatusChange("Nana Bea", "dead"),)
        await group.say("Doc", "So.", present=("Doc",), status_changes=died, notes="Nana Bea dies in Aberdeen")
        await group.say("Doc", "We stand together.", present=("Doc", "Morag"), event_trigger=event)
        assert ("Not known to Morag" not in await group.now("Doc", "I think of Nana Bea.")) is knows


@pytest.mark.parametrize(
    ("note", "line"),
    [
        (
            "Morag promised Jules to be back on Saturday. Roz minds the counter each morning.",
            "Not known to Roz: Morag promised Jules to be back on Saturday (turn 3)",
        ),
        (
            "Morag paid Mr. Orr. The promise stands.",
            "Not known to Roz: Morag paid Mr. Orr. The promise stands (turn 3)",
        ),
    ],
)
async def test_of_a_remark_only_what_others_did_is_not_known(note: str, line: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Doc", "Here.", "Hello.", present=("Roz Hale", "Doc", "Morag"))
        await group.say("Doc", "Off.", npc_separated=("Roz Hale",), present=("Doc", "Morag"))
        await group.say("Doc", "So it is.", present=("Doc", "Morag"), notes=note)
        await group.say("Doc", "Back.", npc_separated=("Morag",), present=("Roz Hale", "Doc"))
        told = await group.now("Doc", "Morag's promise! Who minds the counter, who paid Mr. Orr?")
        assert line.replace("Roz", "Roz Hale", 1) in told and told.count("Not known") == 1


@pytest.mark.parametrize(
    ("who", "note", "reply", "told"),
    [
        ("Pickle", "Pickle, a one-eared tomcat, is hungry", "It purrs.", False),
        ("Pickle", "Morag's old cat Pickle.", "It purrs.", False),
        ("Pickle", "It is late", 'A huge orange tomcat sits there. "From the delivery. He\'s called Pickle."', False),
        ("Pickle", "Pickle, a one-eared tomcat, is hungry", 'Pickle stretches and says, "You are late."', True),
        ("Pickle", "Pickle, a one-eared tomcat, is hungry", '"You are late," says Pickle.', True),
        ("Pickle", "Pickle, a cat lover, is hungry", "He eats.", True),
        ("Pickle", "Morag, her dog and Pickle sit down", "They sit.", True),
        ("도토리", "하은의 올빼미 도토리가 졸고 있다", "부엉.", False),
        ("도토리", "도토리는 하은의 올빼미를 찾는다", "어디지?", True),
        ("タマ", "タマは白い猫だ", "にゃあ。", False),
        ("タマ", "タマは猫が好きだ", "こんにちは。", True),
        ("雪球", "雪球是一只白猫", "喵。", False),
        ("雪球", "雪球喜欢猫", "你好。", True),
    ],
)
async def test_nobody_tells_an_animal(who: str, note: str, reply: str, told: bool) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        letter = "The duke's letter is forged, a secret"
        await group.say("Doc", "So it is.", "Hello.", present=("Doc",), notes=letter)
        await group.say("Doc", reply, "And?", present=("Doc", who), notes=note)
        asked = await group.now("Doc", "Is the duke's letter forged?")
        assert ("Not known" in asked) is told


@pytest.mark.parametrize(
    ("who", "hint"), [(("Roz", "Morag"), "[Roz 1, Morag 1]"), (("Roz", "Morag", "Hattie"), "[Roz 1, …]")]
)
async def test_the_hint_shows_that_several_may_be_told(who: tuple[str, ...], hint: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Doc", "So it is.", "Hello.", present=("Doc",), notes="The duke's letter is forged")
        await group.say("Doc", "There they are.", "And?", present=("Doc", *who))
        assert f"informed: {hint}" in await group.now("Doc", "Is the duke's letter forged?")


@pytest.mark.parametrize(
    ("father", "daughter", "secret"),
    [
        ("Ivo", "Mina", "Mina is Ivo's daughter; only Nell knows"),
        ("이보", "미나", "미나는 이보의 딸이다. 넬리만 안다"),
        ("伊沃", "米娜", "米娜是伊沃的女儿，只有奈儿知道"),
    ],
)
async def test_a_member_is_not_told_an_event_that_is_a_secret_about_her(
    father: str, daughter: str, secret: str
) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say(daughter, "Hello.", "Hi.", present=(father, daughter))
        await group.say(father, "She goes.", "And?", present=(father,), npc_separated=(daughter,))
        await group.say(father, "It is so.", "Well?", present=(father,), event_trigger=secret)
        assert secret in prompt(await group.begin(father, "Well?"))
        group.history.pop()
        await group.say(daughter, "I am back.", "Hi.", present=(father, daughter))
        assert secret not in prompt(await group.begin(daughter, "Well?"))


async def test_a_turn_that_the_chat_no_longer_shows_is_not_shown_for_being_unknown() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        group = Group(saga)
        await group.say("Odile", "I count the silver spoons of the house.", "One?", present=("Odile", "Pim"))
        await group.say("Pim", "I whisper where the old well is.", "Two?", present=("Pim",), npc_separated=("Odile",))
        await group.say("Pim", "I dig there and find a rusty key.", "Dig?", present=("Pim",))
        for number in range(4):
            await group.say(
                "Odile", f"I tell story number {number} of the sea.", f"{number}?", present=("Odile", "Pim")
            )
        del group.history[:8]
        nudge = {"role": "system", "content": NUDGE["en"].format(name="Odile")}
        system = {"role": "system", "content": "You are Odile."}
        turn = await saga.begin([system, *group.history, {"role": "user", "content": "And now?"}, nudge])
        assert turn.context.missing == 4
