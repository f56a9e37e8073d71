"""Who was with the player: noted with each turn, kept in the journal, corrected with it, and told where it matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.sessions import unknown_here
from saga_core.state_block import StatusChange
from tests.core.frontend import Frontend, memory_config

CONFESSED = "Mrs. Pell confessed to Sam that Nina's late husband was murdered; Nina must not know"


async def test_a_turn_notes_who_was_there(tmp_path: Path) -> None:
    config = load_config({"storage": {"path": str(tmp_path)}, "session": {"default_world": "ersia"}})
    async with Saga.open(config) as saga:
        chat = Frontend(saga, session="모험")
        await chat.say("에르겐을 찾는다.", "에르겐이 반긴다.", npc_met=("에르겐",))
        await chat.say("에르겐과 걷는다.", "비석에 이름이 있다.")
        await chat.say("헤어진다.", "에르겐이 떠난다.", npc_separated=("에르겐",))
        last = await chat.say("혼자 걷는다.", "안개뿐이다.")
        await saga.drain(10)
    async with Saga.open(config) as saga:
        live = await saga.parts.live.get(last.session.id)
        there = [live.tree.get(turn).present for turn in live.tree.followed(live.head)]
        (ergen,) = there[1] or ()
        assert there == [None, (ergen,), (ergen,), (ergen,), ()]
        assert (await live.state(live.head)).name(ergen) == "에르겐"


async def test_the_narrator_is_told_who_was_not_there() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await chat.say("비석을 읽는다.", "비석에는 '달의 문'이라는 글이 있다.", present=())
        for number in range(8):
            await chat.say(f"{number}번째 언덕을 넘는다.", "안개가 짙다.")
        await chat.say("에르겐을 찾는다.", "에르겐이 반긴다.", npc_met=("에르겐",))
        del chat.history[:-2]  # the frontend shows the last turn only
        asked = await chat.begin("에르겐, 비석에 뭐라고 쓰여 있었지?")
        (line,) = [piece.text for piece in asked.context.pieces if "달의 문" in piece.text]
        assert line.endswith("(에르겐 없었음)")


@pytest.mark.parametrize(
    ("report", "marked"),
    [
        ({"event_trigger": "달의 문 비석을 에르겐이 보았다"}, True),
        ({"event_trigger": "에르겐과 아리아가 달의 문 때문에 전화로 다퉜다"}, False),
        ({"present": ("에르겐 (전화)",)}, False),
    ],
)
async def test_who_took_part_from_elsewhere_is_not_told_as_absent(report: dict[str, Any], marked: bool) -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await chat.say("에르겐을 찾는다.", "에르겐이 반긴다.", present=("에르겐",))
        await chat.say("떠난다.", "에르겐이 손을 흔든다.", npc_separated=("에르겐",), present=())
        await chat.say("비석을 읽는다.", "비석에는 '달의 문'이라는 글이 있다.", **{"present": (), **report})
        for number in range(8):
            await chat.say(f"{number}번째 언덕을 넘는다.", "안개가 짙다.", present=())
        await chat.say("다시 에르겐을 찾는다.", "에르겐이 또 반긴다.", present=("에르겐",))
        del chat.history[:-2]
        asked = await chat.begin("에르겐, 비석에 뭐라고 쓰여 있었지?")
        (line,) = [each.text for each in asked.context.pieces if each.key[:5] == "turn:" and "달의 문" in each.text]
        assert line.endswith("(에르겐 없었음)") is marked


async def test_who_was_there_under_a_name_that_was_merged_was_there() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await chat.say("비석을 읽는다.", "비석에는 '달의 문'이라는 글이 있다.", present=("노인",))
        for number in range(8):
            await chat.say(f"{number}번째 언덕을 넘는다.", "안개가 짙다.")
        turn = await chat.say("에르겐을 찾는다.", "에르겐이 반긴다.", npc_met=("에르겐",))
        await saga.memory.correct(turn.session.id, "merge", {"one": "노인", "into": "에르겐"})
        del chat.history[:-2]
        asked = await chat.begin("에르겐, 비석에 뭐라고 쓰여 있었지?")
        (line,) = [piece.text for piece in asked.context.pieces if "달의 문" in piece.text]
        assert "없었음" not in line


async def test_who_was_left_in_a_turn_without_a_report_is_no_witness_of_the_next() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The fair begins.", "Tell a story.", "Be brief.")
        await chat.say("I watch the show.", "Teo falls into the band.", present=("Teo",), npc_met=("Teo", "Anselm"))
        silent = await chat.say("I slip away to Anselm.", "Anselm has put out the lantern in the stable.")
        secret = "Secret: Anselm is Teo's father; Teo does not know"
        await chat.say("Well?", "Teo is my son, says Anselm.", present=("Anselm",), location="stable", notes=secret)
        await chat.say("I find Teo.", "Teo juggles onions.", present=("Teo",), location="camp", location_moved=True)
        asked = await chat.begin("Ask Anselm who your father is, Teo.")
        assert f"Not known to Teo: {secret} (turn 3)" in asked.context.text
        report = await saga.memory.knowledge(silent.session.id, about=2)
        assert all(each["knows"] for each in report["people"]), "nobody knows who was there"


async def test_of_a_turn_without_a_report_nobody_is_said_to_have_been_away() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The fair begins.", "Tell a story.", "Be brief.")
        await chat.say("I go to Anselm.", "Anselm coughs.", present=("Anselm",), npc_met=("Anselm", "Marek"))
        await chat.say("I run to Marek.", "Marek carries a pole.", present=("Marek",), npc_separated=("Anselm",))
        await chat.say("I slip away to Anselm.", "Anselm holds out a silver watch in the dark stable.")
        await chat.say("Both?", "Anselm and Marek wait.", present=("Anselm", "Marek"))
        del chat.history[:-2]
        asked = await chat.begin("Anselm, what did you hold out in the dark stable?")
        (line,) = [piece.text for piece in asked.context.pieces if "silver watch in the dark" in piece.text]
        assert "not there" not in line


async def test_a_death_is_told_before_trifles_and_nothing_to_whoever_came_with_the_doer() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The fair begins.", "Tell a story.", "Be brief.")
        await chat.say("I hang it up.", "It drips.", present=("Dorota",), notes="The green coat hangs on a nail")
        await chat.say("I sit down.", "Anselm coughs.", present=("Dorota", "Anselm", "Teo"))
        fetches = "Teo rode Perła into Medyka to fetch Dr. Weiss"
        away = ("Dorota", "Anselm")
        await chat.say("Ride!", "Teo rides off.", present=away, npc_separated=("Teo",), notes=fetches)
        death = "Anselm died on the road below Medyka in the evening rain"
        await chat.say("I hold his hand.", "He does not breathe in.", present=("Dorota",), event_trigger=death)
        here = ("Dorota", "Teo", "Dr. Weiss")
        came = "Two on Perła: Teo, and in the coat of green and nails a Dr. Weiss. Where is Anselm?"
        await chat.say("I jump up.", came, present=here, npc_met=("Dr. Weiss",))
        asked = await chat.begin("I go to Teo, who rode to fetch Dr. Weiss.")
        unknown = [line for line in asked.context.text.splitlines() if line.startswith("Not known")]
        assert len(unknown) == 2 and death in unknown[0] and "coat hangs" in unknown[1], asked.context.text


async def test_what_the_messages_share_only_small_words_with_is_not_told_as_unknown() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The fair begins.", "Tell a story.", "Be brief.")
        paid = "Pay the farrier 5 krone: paid"
        await chat.say("I pay him.", "The farrier nods.", present=("Marek",), event_trigger=paid)
        await chat.say("I go.", "Dorota is there.", present=("Dorota",), npc_separated=("Marek",))
        songs = await chat.begin("Play me a song about the girl and the river.")
        assert "Not known" not in songs.context.text
        farrier = await chat.begin("What does the farrier want?")
        assert f"Not known to Dorota: {paid}" in farrier.context.text


def _unknown(context: str) -> list[str]:
    return [line.partition(";")[0] for line in context.splitlines() if line.startswith("Not known")]


async def test_a_death_that_a_later_turn_told_is_known_to_those_who_were_there() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        await chat.say("In.", "He eats.", location="mess", present=("Tomasz Wojcik", "Kit", "Barty"))
        died = (StatusChange("Tomasz", "dead"),)
        lies = "Tomasz Wojcik lies dead in the winch pit"
        await chat.say("Up.", "Wind.", location="deck", present=())
        found = {"event_trigger": "The bosun is found dead", "notes": lies, "status_changes": died}
        await chat.say("Down.", "Tomasz lies dead.", location="winch pit", present=(), **found)
        await chat.say("I nod.", "Kit nods.", location="bridge", present=("Captain Berg", "Kit"))
        once = _unknown((await chat.begin("I tell the captain that Tomasz is dead.")).context.text)
        assert once == [f"Not known to Captain Berg, Kit: {lies} (turn 3)"], "one fact is told once"
        await chat.say(
            "I tell the captain that Tomasz is dead.", '"A fall," she says.', present=("Captain Berg", "Kit")
        )
        assert _unknown((await chat.begin("Tomasz is dead. A fall?")).context.text) == []
        await chat.say("I go.", "Barty waits.", location="engine room", present=("Barty",))
        assert _unknown((await chat.begin("Tomasz, Barty.")).context.text) == [f"Not known to Barty: {lies} (turn 3)"]


async def test_a_secret_that_the_messages_touch_is_told_before_trifles_until_somebody_tells_it() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls. Dana is the bosun.", "Tell a story.", "Be brief.")
        both = ("Rosa", "Captain Berg")
        await chat.say("In.", "All nod.", present=("Tomasz", "Kit", *both))
        lent = "Kit lent the player a torch"
        await chat.say("I go.", "Kit is there.", location="deck", present=("Kit",), notes=lent)
        killed = "Rosa confesses to Dana alone that she killed Tomasz"
        await chat.say("Rosa?", "I did it.", location="galley", present=("Rosa",), notes=killed)
        await chat.say("Up.", "They wait.", location="bridge", present=both)
        asked = _unknown((await chat.begin("It was Rosa, Captain, and Kit.")).context.text)
        assert asked == [f"Not known to Captain Berg: {killed} (turn 3)"]
        mourns = "Rosa weeps for Tomasz, who is dead"
        await chat.say("Hm.", "Rosa weeps.", present=both, notes=mourns)
        assert _unknown((await chat.begin("Rosa, why?")).context.text) == asked, "that is not the confession"
        await chat.say("Well?", "Rosa speaks.", present=both, notes="The captain knows that Rosa killed Tomasz")
        assert _unknown((await chat.begin("Rosa, why?")).context.text) == []


async def test_who_somebody_really_is_is_known_once_it_was_admitted() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The ship rolls.", "Tell a story.", "Be brief.")
        await chat.say("In.", "All nod.", present=("Mr. Grey", "Julian Vane", "Amara", "Kit", "Rosa"))
        await chat.say("Up.", "Wind.", location="deck", present=())
        really = "Amara says that Mr. Grey is really Julian Vane, once her husband's lawyer"
        await chat.say("Amara?", "She tells.", location="sick bay", present=("Amara",), notes=really)
        await chat.say("Up.", "Kit waits.", location="deck", present=("Kit", "Rosa"))
        asked = _unknown((await chat.begin("So, Mr. Grey?")).context.text)
        assert asked == [f"Not known to Kit, Rosa: {really} (turn 3)"]
        await chat.say("Below.", "Kit comes.", location="stairs", present=("Kit",))
        admits = "Mr. Grey admits before Kit that he is Julian Vane"
        await chat.say("Well?", "He admits it.", location="hold", present=("Kit", "Mr. Grey"), notes=admits)
        await chat.say("Up.", "Both wait.", location="deck", present=("Kit", "Rosa"))
        told = _unknown((await chat.begin("So, Mr. Grey?")).context.text)
        assert told and all(each.startswith("Not known to Rosa:") for each in told), told


async def test_a_death_told_in_a_turn_without_a_report_is_known_to_those_named_there() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "수술실 앞이다.", "너는 이야기꾼이다.", "짧게 답한다.")
        everybody = ("최만복", "한지우", "은아")
        await chat.say("들어간다.", "모두 있다.", location="병동", present=everybody)
        await chat.say("나간다.", "바람이 분다.", location="옥상", present=())
        died = (StatusChange("최만복", "사망"),)
        note = "최만복이 수술 중 사망했다"
        await chat.say("수술실로 간다.", "끝났다.", location="수술실", present=(), status_changes=died, notes=note)
        await chat.say("나간다.", "한지우가 고개를 떨궜다. 최만복이 사망했다고 들었다.")
        await chat.say("옥상으로 간다.", "둘이 있다.", location="옥상", present=("한지우", "은아"))
        told = (await chat.begin("최만복 할아버지…")).context.text
        assert "은아 모르는 것" in told and "한지우 모르는 것" not in told and ", 한지우" not in told


async def test_first_names_are_enough_for_a_secret() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The bar is full. Nora writes plays.", "Tell a story.", "Be brief.")
        await chat.say("In.", "They nod.", present=("Toby Finch", "Callum Reyes"))
        saw = "Toby confessed to Nora alone that he saw Callum Reyes steal the cash tin"
        await chat.say("Toby?", "He tells.", location="cellar", present=("Toby Finch",), notes=saw)
        await chat.say("Up.", "She sews.", location="attic", present=("Lottie Crane",))
        asked = _unknown((await chat.begin("Have you seen Toby today?")).context.text)
        assert asked == [f"Not known to Lottie Crane: {saw} (turn 2)"]


async def test_what_is_told_under_a_part_of_a_name_is_known_to_who_did_it() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The bar is full. Nora writes plays.", "Tell a story.", "Be brief.")
        everyone = ("Toby Finch", "Callum Reyes", "Old Mara", "The Old Man", "한지우", "Nora Finch")
        await chat.say("In.", "They nod.", present=everyone)
        deeds = (
            "Callum paid Bea back sixty pounds",
            "Mara paid sixty pounds",
            "Old sails are gone",
            "The sixty pounds are gone",
            "Finch paid sixty pounds",
            "Callum's brother paid",
            "지우가 편지를 열었다",
        )
        for deed in ("They left", *deeds):
            await chat.say("So?", "He shrugs.", present=("Lottie Crane",), location="cellar", notes=deed)
        turn = await chat.say("Hm.", "They come.", location="attic", present=everyone)
        live = await saga.parts.live.get(turn.session.id)
        state = await live.state(live.head)
        unknown = unknown_here(live, state, [(depth + 3, each) for depth, each in enumerate(deeds)])
        asked = {(state.name(each.who), each.text) for each in unknown}
        known = {each: [who for who in everyone if (who, each) not in asked] for each in deeds}
        assert {each: who for each, who in known.items() if who} == {
            "Callum paid Bea back sixty pounds": ["Callum Reyes"],
            "Mara paid sixty pounds": ["Old Mara"],
            "지우가 편지를 열었다": ["한지우"],
        }


@pytest.mark.parametrize(
    ("report", "knows"),
    [
        ({"npc_separated": ("Nina",), "location_moved": True, "notes": CONFESSED}, False),
        ({"notes": CONFESSED}, False),
        ({"npc_separated": ("Nina",), "location": None, "notes": CONFESSED}, False),
        ({"notes": "Secret: Mrs. Pell saw the murder"}, False),
        ({"notes": "Mrs. Pell saw the murder; only Sam may hear of it, do not tell Nina"}, False),
        ({"notes": "펠 부인이 살인을 보았다. 니나는 몰라야 한다"}, False),
        ({"notes": "ペル夫人は殺人を見た。ニナに知られてはならない"}, False),
        ({"notes": "佩尔夫人看见了凶案，不能让尼娜知道"}, False),
        ({"event_trigger": "Mrs. Pell reveals the murder"}, False),
        ({"present": ("Tobin",), "informed": ("Tobin 1",)}, False),
        ({"present": ("Tobin",), "informed": ("Tobin 1", "Nina 1")}, True),
        ({"notes": "Mrs. Pell brings bread"}, True),
        ({"notes": "Nina confesses that she is afraid of horses"}, True),
        ({"notes": "Sam confessed to Nina that he cannot read"}, True),
        ({"notes": "Sam told Nina in secret that Mrs. Pell saw the murder"}, True),
        ({"notes": "Mrs. Pell's secret is the murder; Nina already knows"}, True),
        ({"notes": CONFESSED, "present": ("Mrs. Pell", "Nina")}, True),
    ],
)
async def test_a_secret_told_after_somebody_was_left_is_not_known_to_her(report: dict[str, Any], knows: bool) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "Rain.", "Tell a story. [Nina is a cellist.] [Mrs. Pell keeps house.]", "Be brief.")
        await chat.say("I drink.", "Nina yawns by the fire.", location="boathouse", present=("Nina",))
        there = {"location": "stable yard", "present": ("Mrs. Pell",), **report}
        turn = await chat.say("At six I saddle my horse.", '"I saw it," says Mrs. Pell.', **there)
        people = (await saga.memory.knowledge(turn.session.id, about=2))["people"]
        known = {each["name"]: each["knows"] for each in people}
        assert known["Nina"] is knows and all(known[who] for who in there["present"] if who != "Nina")


@pytest.mark.parametrize(
    ("note", "knows"),
    [
        ("서리가 서준에게 살인을 고백했다. 하은은 몰라야 한다", False),
        ("서리의 비밀은 살인이다. 서준이 하은에게 그 일을 이미 알려 주었다", True),
    ],
)
async def test_a_secret_is_kept_from_who_was_left_in_korean(note: str, knows: bool) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "비가 온다.", "이야기를 쓴다.", "짧게.")
        await chat.say("마신다.", "하은이 하품한다.", location="온실", present=("하은",))
        there = {"location": "탑", "location_moved": True, "present": ("서리",), "npc_separated": ("하은",)}
        turn = await chat.say("아침에 탑에 간다.", "서리가 목소리를 낮춘다.", notes=note, **there)
        people = (await saga.memory.knowledge(turn.session.id, about=2))["people"]
        assert {each["name"]: each["knows"] for each in people}["하은"] is knows


async def test_a_narrator_is_told_of_a_secret_from_whom_the_player_had_left() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "Rain.", "Tell a story. [Nina is a cellist.] [Mrs. Pell keeps house.]", "Be brief.")
        await chat.say("I drink.", "Nina yawns by the fire.", location="boathouse", present=("Nina",))
        there = {"location": "stable yard", "location_moved": True, "present": ("Mrs. Pell",)}
        said = '"Her husband was murdered. Nina must not know."'
        await chat.say("At six I saddle my horse.", said, npc_separated=("Nina",), notes=CONFESSED, **there)
        await chat.say("I visit Nina.", "Nina smiles.", location="boathouse", present=("Nina",))
        asked = _unknown((await chat.begin('"Mrs. Pell told me of your husband, Nina."')).context.text)
        assert asked == [f"Not known to Nina: {CONFESSED.partition(';')[0]}"]


SPOKEN_OF = [
    ("Ivo", "Nell", "Mina", "Ivo confesses to Nell alone that he is Mina's father", True),
    ("Ivo", "Nell", "Mina", "Ivo confessed to Nell that Mina is his daughter", True),
    ("Ivo", "Nell", "Mina", "Mina is Ivo's daughter. Only Nell knows", False),
    ("이보", "넬리", "미나", "이보가 넬리에게만 자신이 미나의 아버지라고 고백했다", True),
    ("이보", "넬리", "미나", "미나는 이보의 딸이다. 넬리만 안다", False),
    ("イヴォ", "ネル", "ミナ", "イヴォはネルにだけ、自分がミナの父親だと告白した", True),
    ("イヴォ", "ネル", "ミナ", "ミナはイヴォの娘だ。ネルだけが知っている", False),
    ("伊沃", "奈儿", "米娜", "伊沃只告诉奈儿，自己是米娜的父亲", True),
    ("伊沃", "奈儿", "米娜", "米娜是伊沃的女儿，只有奈儿知道", False),
]


@pytest.mark.parametrize("field", ["notes", "event_trigger"])
@pytest.mark.parametrize("leaves_before", [True, False])
@pytest.mark.parametrize(("father", "friend", "daughter", "secret", "tells"), SPOKEN_OF)
async def test_whom_a_secret_is_about_does_not_know_it(
    father: str, friend: str, daughter: str, secret: str, tells: bool, leaves_before: bool, field: str
) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The inn is full.", "Tell a story.", "Be brief.")
        await chat.say("In.", "All nod.", present=(friend, father, daughter))
        if leaves_before:
            await chat.say("Good night.", "She goes.", present=(friend, father), npc_separated=(daughter,))
        there = {"present": (friend, father), "npc_separated": () if leaves_before else (daughter,)}
        told = await chat.say("Well?", "He speaks low.", **{field: secret}, **there)
        await chat.say("Good morning.", "She is back.", present=(friend, father, daughter))
        facts = (await saga.memory.knowledge(told.session.id, who=daughter))["facts"]
        assert [each["knows"] for each in facts if each["text"] == secret] == [False]
        live = await saga.parts.live.get(told.session.id)
        state = await live.state(live.head)
        unknown = unknown_here(live, state, [(state.depth - 1, secret)])
        assert {state.name(each.who) for each in unknown if each.text[:6] == secret[:6]} == {
            daughter,
            *(() if tells else (father,)),
        }


@pytest.mark.parametrize("secret", ["Ivo and Mina swear in secret to marry", "Ivo, Mina and Nell confess the theft"])
async def test_whoever_does_it_with_another_knows_a_secret(secret: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The inn is full.", "Tell a story.", "Be brief.")
        await chat.say("In.", "All nod.", present=("Nell", "Ivo", "Mina"))
        told = await chat.say("Hm.", "Mina goes.", present=("Nell", "Ivo"), npc_separated=("Mina",), notes=secret)
        facts = (await saga.memory.knowledge(told.session.id, who="Mina"))["facts"]
        assert [each["knows"] for each in facts] == [True]


SISTER = ("Nell", "Mina", "Mina is really Ivo's sister; Nell overheard it")
여동생 = ("넬리", "미나", "사실은 이보의 여동생이 미나다")
妹 = ("ネル", "ミナ", "実はイヴォの妹はミナだ")
妹妹 = ("奈儿", "米娜", "其实伊沃的妹妹就是米娜")
LETTER = ("Nell", "Mina", "The letter says that the duke's seal is forged")
IVO = ("Nell", "Mina", "Ivo confesses to Nell alone that he is Mina's father")
편지 = ("넬리", "미나", "편지에 따르면 공작의 인장은 위조되었다")
手紙 = ("ネル", "ミナ", "手紙によると公爵の印章は偽物だ")
信 = ("奈儿", "米娜", "信上说公爵的印章是伪造的")


@pytest.mark.parametrize(
    ("told", "prose", "note", "knows"),
    [
        (SISTER, "Fine.", "Mina admits that Ivo is her brother", True),
        (SISTER, "Fine.", "Mina confessed to Nell that she was Ivo's kin all along", True),
        (SISTER, "Fine.", "Mina does not admit that Ivo is her brother", False),
        (SISTER, "Fine.", "Mina admits that she stole from Ivo", False),
        (SISTER, "Fine.", "Nell admits that Ivo has a kinswoman", False),
        (여동생, "그래.", "미나는 이보가 자기 오빠라고 인정했다", True),
        (妹, "そう。", "ミナはイヴォが自分の兄だと認めた", True),
        (妹妹, "好。", "米娜承认伊沃是她哥哥", True),
        (LETTER, "Fine.", "Mina reads the letter", True),
        (LETTER, "Mina unfolds the letter and reads it slowly.", "", True),
        (LETTER, "Fine.", "Nell told Mina about the forged seal", True),
        (LETTER, "Fine.", "Mina learned what the letter says", True),
        (LETTER, "Mina has not read the letter.", "", False),
        (LETTER, "Mina waits while Nell reads the letter.", "", False),
        (LETTER, "Mina reads a poem.", "", False),
        (IVO, "Fine.", "Nell told Mina about the father of Tom", False),
        (편지, "그래.", "미나가 편지를 읽었다", True),
        (편지, "미나는 편지를 읽지 않았다.", "", False),
        (手紙, "ミナは手紙を読んだ。", "", True),
        (信, "好。", "米娜读了信", True),
    ],
)
async def test_whoever_later_reads_or_learns_it_is_not_told_as_ignorant(
    told: tuple[str, str, str], prose: str, note: str, knows: bool
) -> None:
    friend, who, fact = told
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The inn is full. Ivo sings.", "Tell a story.", "Be brief.")
        brother = {"넬리": "이보", "ネル": "イヴォ", "奈儿": "伊沃"}.get(friend, "Ivo")
        await chat.say("In.", "All nod.", present=(friend, who, brother))
        await chat.say("Bye.", "She goes.", present=(friend,), npc_separated=(who,))
        await chat.say("Well?", "Hm.", present=(friend,), notes=fact)
        await chat.say("And?", prose, present=(friend, who), **({"notes": note} if note else {}))
        asked = (await chat.begin(f"{who}, {fact}?")).context.text.splitlines()
        assert [fact[:6] in line for line in asked if f" {who} 3]" in line or f"[{who} 3]" in line] == [True] * (
            not knows
        )


@pytest.mark.parametrize(
    "note",
    [
        "Ivo told only Nell where the gold lies",
        "Ivo tells Nell, and nobody else, where the gold lies",
        "Ivo told no one but Nell where the gold lies",
    ],
)
async def test_who_left_does_not_know_what_only_one_was_told(note: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The inn is full.", "Tell a story.", "Be brief.")
        await chat.say("In.", "All nod.", present=("Nell", "Ivo", "Mina"))
        told = await chat.say("Hm.", "Mina goes.", present=("Nell", "Ivo"), npc_separated=("Mina",), notes=note)
        people = (await saga.memory.knowledge(told.session.id, about=2))["people"]
        assert {each["name"]: each["knows"] for each in people} == {
            "Player": True,
            "Nell": True,
            "Ivo": True,
            "Mina": False,
        }


@pytest.mark.parametrize(
    ("told", "knows"),
    [
        ("옥분 할머니가 죽었어", True),
        ("할머니가 돌아가셨어요.", True),
        ("옥분 할머니께서 세상을 떠나셨어", True),
        ("할머니는 어제 집으로 돌아가셨어", False),
        ("할머니는 세상을 떠돌던 분이야", False),
    ],
)
async def test_who_is_told_of_a_death_with_respect_knows_it(told: str, knows: bool) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga)
        await chat.say("가자.", "병원이다.", location="책방", present=("윤덕수", "옥분 할머니"))
        await chat.say("간다.", "조용하다.", location="병원", present=("옥분 할머니",), npc_separated=("윤덕수",))
        dead = (StatusChange("옥분 할머니", "사망"),)
        event = "옥분 할머니가 숨을 거두다"
        await chat.say("이런.", "조용하다.", location="병원", present=(), status_changes=dead, event_trigger=event)
        await chat.say(told, "윤덕수가 운다.", location="책방", present=("윤덕수",))
        asked = await chat.begin("할머니 장례는 어떻게 하지?")
        assert ("윤덕수 모르는 것: 옥분 할머니가" not in asked.context.text) is knows


@pytest.mark.parametrize(
    ("name", "fact", "knows"),
    [
        ("Mother Tansy", "the letter of the hull was written by Mother Tansy", True),
        ("Pim", "Wren's brother Pim hides in the mill", True),
        ("Pim", "Wren's letter to Pim was burned", False),
        ("Mother Tansy", "Wren sat by Mother Tansy", False),
        ("Captain Ruck", "Pim has stayed behind at Ruck's Chain", True),
        ("Captain Ruck", "Pim hides the gold at Ruck's Chain", False),
        ("서민재", "수연의 오빠 서민재는 살아서 숨어 있다", True),
        ("서민재", "수연은 서민재가 죽었다고 믿는다", False),
        ("옥분", "그 편지는 옥분이 쓴 것이다", True),
    ],
)
async def test_who_a_remark_is_about_knows_it_and_who_is_here_is_seen_by_all(name: str, fact: str, knows: bool) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The inn is full.", "Tell a story.", "Be brief.")
        everyone = ("Pim", "Captain Ruck", "Mother Tansy", "Wren", "서민재", "옥분", "수연")
        await chat.say("In.", "All nod.", present=everyone, location="Ruck's Chain")
        await chat.say("Out.", "Rain.", present=(), npc_separated=everyone, location="mill")
        await chat.say("On.", "Rain.", present=(), location="mill", notes=fact)
        turn = await chat.say("Back.", "They sit.", present=everyone, location="Ruck's Chain")
        live = await saga.parts.live.get(turn.session.id)
        state = await live.state(live.head)
        ignorant = {state.name(each.who) for each in unknown_here(live, state, [(3, fact)])}
        assert (name not in ignorant) is knows
