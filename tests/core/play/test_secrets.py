"""A secret is guarded as long as it is one: who is told of it, whom it is kept from, and for how long."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from tests.core.frontend import Frontend, memory_config

PLAYED = {
    "en": "Write Fenland's next reply in a fictional chat between Fenland and {player}.",
    "ja": "灰浜と{player}のロールプレイの次の返答を書いてください。",
    "ko": "장터와 {player}의 롤플레이에서 장터의 다음 답변을 쓰세요.",
    "zh": "请写出集市与{player}的角色扮演中集市的下一条回复。",
}
Lines = list[tuple[str, str, dict[str, Any]]]


async def unknown(lines: Lines, words: str, player: str, language: str = "en") -> str:
    """What the narrator is told that somebody does not know, in the prompt for ``words`` after these turns."""
    mark = {"en": "Not known to", "ja": "が知らないこと", "ko": "모르는 것", "zh": "不知道："}[language]
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, system=PLAYED[language].format(player=player), greeting="", note="")
        for said, reply, fields in lines:
            await chat.say(said, reply, **fields)
        turn = await chat.begin(words)
        return "\n".join(line for line in turn.context.text.splitlines() if mark in line)


def days(count: int, *present: str, first: int = 1) -> Lines:
    return [
        (
            f"On we go, {at}.",
            f"The barge passes lock number {at}.",
            {"present": present, "notes": f"They pass lock {at}."},
        )
        for at in range(first, first + count)
    ]


CONFESSION = (
    "Pell confesses to Ilse that he is really Perpetua Lisle, a girl in disguise; Ilse promises to bring her to "
    "Magistrate Corrigan by Saturday noon and to tell nobody. Odo does not know."
)
NIGHT: Lines = [
    ("I board the barge.", "Odo Finch nods, and Pell jumps aboard.", {"present": ("Odo Finch", "Pell")}),
    ("I sit down beside Pell.", "The boy takes off his cap.", {"present": ("Pell",), "notes": CONFESSION}),
]


@pytest.mark.parametrize("later", [10, 30])
async def test_a_secret_is_guarded_however_many_notes_are_newer(later: int) -> None:
    told = await unknown([*NIGHT, *days(later, "Odo Finch", "Pell")], "I look at Pell.", "Ilse")
    assert "Not known to Odo Finch: Pell confesses" in told


async def test_a_secret_is_guarded_however_many_notes_are_newer_in_japanese() -> None:
    secret = (
        "弥七の正体は元目付の榊原宗一郎で、権蔵に弟を殺された証を探している。涼と玄海だけが知り、菊乃と小春は知らない。"
    )
    lines: Lines = [
        ("宿に入る。", "菊乃と弥七がいる。", {"present": ("菊乃", "弥七")}),
        ("寺へ行く。", "弥七は膝を正した。", {"location": "寺", "present": ("弥七", "玄海"), "notes": secret}),
        *(
            (f"{at}日目。", f"船は{at}番目の橋を過ぎた。", {"present": ("弥七",), "notes": f"{at}番目の橋。"})
            for at in range(20)
        ),
        (
            "千鳥屋に戻る。",
            "菊乃が迎えた。",
            {"location": "千鳥屋", "present": ("弥七", "菊乃"), "notes": "千鳥屋に戻る。"},
        ),
    ]
    assert "菊乃が知らないこと：弥七の正体" in await unknown(
        lines, "「菊乃さん、弥七さんの本当の名をご存じですか」", "水野涼", "ja"
    )


async def test_a_secret_that_is_kept_long_is_listed_and_can_be_taken_back() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, system=PLAYED["en"].format(player="Ilse"), greeting="", note="")
        for said, reply, fields in [*NIGHT, *days(20, "Odo Finch", "Pell")]:
            turn = await chat.say(said, reply, **fields)
        session = turn.session.id
        state = await saga.describe(session)
        assert [note["turn"] for note in state["notes"]][:2] == [2, 7]
        assert any(each["text"] == CONFESSION for each in (await saga.memory.lines(session))["lines"])
        await saga.memory.correct(session, "unnote", {"remark": CONFESSION})
        assert CONFESSION not in str((await saga.describe(session))["notes"])


async def test_who_is_told_who_somebody_really_is_knows_that_she_confessed() -> None:
    lines: Lines = [
        NIGHT[0],
        (NIGHT[1][0], NIGHT[1][1], {**NIGHT[1][2], "event_trigger": "Pell's confession", "notes": "They talk."}),
        *days(3, "Odo Finch", "Pell"),
    ]
    told = {"present": ("Odo Finch", "Pell"), "notes": "Pell tells Odo who she really is."}
    words = "I think of the confession. Does Pell know?"
    assert "Pell's confession" in await unknown(lines, words, "Ilse")
    lines.append(("On deck, in the evening.", "The cap comes off again.", told))
    assert await unknown(lines, words, "Ilse") == ""


async def test_who_is_told_who_somebody_really_is_knows_that_he_confessed_in_japanese() -> None:
    lines: Lines = [
        ("宿に入る。", "菊乃と弥七がいる。", {"present": ("菊乃", "弥七")}),
        ("寺へ行く。", "弥七は膝を正した。", {"location": "寺", "present": ("弥七",), "event_trigger": "弥七の告白"}),
        ("千鳥屋に戻る。", "菊乃が迎えた。", {"location": "千鳥屋", "present": ("弥七", "菊乃")}),
    ]
    words = "弥七の告白を思い出す。"
    assert "弥七の告白" in await unknown(lines, words, "水野涼", "ja")
    lines.append(
        ("帳場へ行く。", "膝をついた。", {"present": ("弥七", "菊乃"), "notes": "弥七は菊乃に正体を明かした。"})
    )
    assert await unknown(lines, words, "水野涼", "ja") == ""


ONLY = [
    (
        "en",
        ("Odo Finch", "Pell", "Sister Anneke Brandt"),
        "Ilse",
        "Sister Anneke stitches Ilse's cut left palm with seven stitches; she has recognised Pell as a Lisle and tells "
        "only Ilse that she will keep the secret.",
        "I look at Anneke and at Pell.",
        "Odo Finch, Pell",
    ),
    (
        "en",
        ("Odo Finch", "Pell", "Sister Anneke Brandt"),
        "Ilse",
        "Secret: Sister Anneke Brandt is Ruark Stroud's half-sister. Only Anneke knows this.",
        "I ask Anneke about Stroud.",
        "Odo Finch, Pell",
    ),
    (
        "en",
        ("Odo Finch", "Pell", "Sister Anneke Brandt"),
        "Ilse",
        "The Heron is Sister Anneke Brandt; she reveals it to Ilse alone, and neither Odo nor Pell knows.",
        "I look for Anneke.",
        "Odo Finch, Pell",
    ),
    (
        "ja",
        ("菊乃", "弥七", "玄海"),
        "水野涼",
        "帳面は寺にある。玄海だけが知っている。秘密だ。",
        "玄海に帳面のことを訊く。",
        "菊乃, 弥七",
    ),
    (
        "ja",
        ("菊乃", "弥七", "玄海"),
        "水野涼",
        "帳面の秘密は玄海しか知らない。",
        "玄海に帳面のことを訊く。",
        "菊乃, 弥七",
    ),
    (
        "ja",
        ("菊乃", "弥七", "玄海"),
        "水野涼",
        "弥七は玄海にだけ帳面の秘密を打ち明けた。",
        "玄海に帳面のことを訊く。",
        "菊乃",
    ),
    (
        "ko",
        ("미나", "토빈", "은채"),
        "서준",
        "편지는 위조다. 오직 미나만 안다.",
        "미나에게 편지를 묻는다.",
        "토빈, 은채",
    ),
    (
        "ko",
        ("미나", "토빈", "은채"),
        "서준",
        "토빈은 미나에게만 편지가 위조라고 털어놓았다.",
        "미나에게 편지를 묻는다.",
        "은채",
    ),
    ("zh", ("小翠", "王捕头", "李婆"), "沈青", "信是伪造的，只有小翠知道。", "问小翠那封信。", "王捕头, 李婆"),
    ("zh", ("小翠", "王捕头", "李婆"), "沈青", "王捕头只告诉小翠：信是伪造的。", "问小翠那封信。", "李婆"),
]


@pytest.mark.parametrize(("language", "present", "player", "secret", "words", "who"), ONLY)
async def test_what_only_certain_people_know_the_others_do_not_know_although_they_were_there(
    language: str, present: tuple[str, ...], player: str, secret: str, words: str, who: str
) -> None:
    opening = {"en": "They are here.", "ja": "皆がいる。", "ko": "모두 여기 있다.", "zh": "大家都在。"}[language]
    lines: Lines = [(words, opening, {"present": present}), (words, opening, {"present": present, "notes": secret})]
    told = await unknown(lines, words, player, language)
    assert {each for each in present if each in told.partition(secret[:4])[0]} == set(who.split(", ")), told


async def test_only_somebody_who_does_not_know_is_nobody_who_knows_alone() -> None:
    there = {"present": ("Odo Finch", "Pell")}
    secret = "The secret of the barge: only Odo and Pell do not know it."
    lines: Lines = [("Hello.", "Hello.", there), ("Hm.", "Hm.", {**there, "notes": secret})]
    assert await unknown(lines, "I ask Odo about the secret of the barge.", "Ilse") == ""


async def test_the_page_of_a_person_shows_what_only_others_know() -> None:
    secret = "Secret: Anneke is Ruark Stroud's half-sister. Only Anneke knows this."
    there = {"present": ("Odo Finch", "Anneke")}
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, system=PLAYED["en"].format(player="Ilse"), greeting="", note="")
        await chat.say("Hello.", "Hello.", **there)
        turn = await chat.say("We bury him.", "He is buried.", **there, notes="Dorrin is buried.")
        await saga.memory.correct(turn.session.id, "note", {"text": secret})
        for who, knows in (("Odo Finch", False), ("Anneke", True)):
            known = await saga.memory.knowledge(turn.session.id, who=who)
            assert {each["text"]: each["knows"] for each in known["facts"]} == {
                "Dorrin is buried.": True,
                secret: knows,
            }


ANIMALS = [
    ("en", "Button", "Odo Finch", "Ilse", "Button is Odo's ferret.", "I think of the confession of Pell."),
    (
        "en",
        "Button",
        "Odo Finch",
        "Ilse",
        "Button the ferret has gone missing by the eel stalls.",
        "I think of the confession of Pell.",
    ),
    ("ja", "トラ", "菊乃", "水野涼", "菊乃は女将、トラは菊乃の三毛猫。", "弥七の告白を思い出す。"),
]


@pytest.mark.parametrize(("language", "animal", "owner", "player", "note", "words"), ANIMALS)
async def test_an_animal_is_nobody_from_whom_a_secret_is_kept(
    language: str, animal: str, owner: str, player: str, note: str, words: str
) -> None:
    known, event = {"en": ("Pell", "Pell's confession"), "ja": ("弥七", "弥七の告白")}[language]
    reply = {"en": "The water is still.", "ja": "水は静かだ。"}[language]
    lines: Lines = [
        (reply, reply, {"present": (owner, animal, known), "notes": note}),
        (reply, reply, {"present": (known,), "event_trigger": event}),
        *((reply, f"{reply} {at}", {"present": (owner, animal, known), "notes": f"{reply} {at}"}) for at in range(8)),
    ]
    told = await unknown(lines, words, player, language)
    assert owner in told
    assert animal not in told


async def test_what_is_kept_from_somebody_is_told_before_a_death() -> None:
    all_here = ("Pell", "Anneke", "Odo Finch")
    lines: Lines = [
        ("Hello.", "They are here.", {"present": (*all_here, "Dorrin")}),
        ("I go.", "Nettleford burns.", {"present": (), "npc_separated": all_here, "notes": "Dorrin is shot and dies."}),
        ("On.", "Stroud laughs.", {"present": (), "notes": "Mother Gesk dies of a fever."}),
        (
            "I meet Anneke.",
            "She nods.",
            {"present": ("Anneke",), "notes": "The Heron is Anneke; neither Odo nor Pell knows."},
        ),
        ("I return.", "All wait.", {"present": all_here}),
    ]
    told = await unknown(lines, "I tell Anneke of Dorrin and of Mother Gesk.", "Ilse")
    assert "The Heron is Anneke" in told.splitlines()[0]


async def test_what_is_kept_from_somebody_here_is_told_although_nobody_is_named() -> None:
    told = await unknown([*NIGHT, *days(2, "Odo Finch", "Pell")], "I wait and look at the water.", "Ilse")
    assert "Not known to Odo Finch: Pell confesses" in told
