"""The offline narrator's ear: what players write, and the deeds that it takes from it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.chat.offline.intent import Act, Amount, Intent
from saga_backends.chat.offline.scene import Scene, named_in, read_scene, resolve, without_block
from saga_backends.chat.offline.voice import ENGLISH, KOREAN, voice_for

KO = Scene(
    told=True,
    place="마을 광장",
    inventory=(("불꽃 검", 1), ("치유 물약", 2), ("은화", 14)),
    player="아리아",
    present=("고블린왕 크룩",),
    nearby=("에르겐",),
    ways=("어둠의 숲", "고대 유적"),
    lore=(("대붕괴", "300년 전의 재앙."),),
)
EN = Scene(
    told=True,
    place="Salt Gate",
    inventory=(("flame sword", 1), ("healing potion", 2), ("silver coin", 14)),
    player="Alex",
    present=("Krook the Goblin King",),
    nearby=("Ysolde",),
    ways=("Old Harbour", "Sunken Chapel"),
    lore=(("The Drowning", "300 years ago."),),
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("어둠의 숲으로 간다.", [Intent(Act.GO, place="어둠의 숲")]),
        ("나는 천천히 고대 유적 쪽으로 걸어간다", [Intent(Act.GO, place="고대 유적")]),
        ("마을 광장에 돌아간다", [Intent(Act.GO, place="마을 광장")]),
        ("주위를 둘러본다.", [Intent(Act.LOOK)]),
        ('"오랜만이에요." 에르겐에게 다가가 말을 건다.', [Intent(Act.TALK, person="에르겐")]),
        ('"크룩, 이제 그만해."', [Intent(Act.TALK, person="고블린왕 크룩")]),
        ("크룩을 부른다", [Intent(Act.TALK, person="크룩")]),
        ("노래를 부른다", []),
        (
            "에르겐과 헤어져 어둠의 숲으로 향한다",
            [Intent(Act.PART, person="에르겐"), Intent(Act.GO, place="어둠의 숲")],
        ),
        ("바닥에 떨어진 낡은 지도를 주워 든다", [Intent(Act.TAKE, item=Amount("낡은 지도"))]),
        ("치유 물약을 두 개 챙긴다", [Intent(Act.TAKE, item=Amount("치유 물약", 2))]),
        ("고대 열쇠를 발견하고 챙긴다", [Intent(Act.TAKE, item=Amount("고대 열쇠"))]),
        (
            "은화 세 닢을 주고 에르겐에게서 치유 물약 두 병을 산다.",
            [Intent(Act.BUY, person="에르겐", item=Amount("치유 물약", 2), price=Amount("은화", 3))],
        ),
        ("은화 10닢으로 낡은 지도를 산다", [Intent(Act.BUY, item=Amount("낡은 지도"), price=Amount("은화", 10))]),
        ("에르겐에게 불꽃 검을 건넨다", [Intent(Act.GIVE, person="에르겐", item=Amount("불꽃 검"))]),
        ("불꽃 검을 에르겐에게 준다", [Intent(Act.GIVE, person="에르겐", item=Amount("불꽃 검"))]),
        ("물약을 두 개 마신다", [Intent(Act.DRINK, item=Amount("물약", 2))]),
        ("치유 물약을 사용한다", [Intent(Act.DRINK, item=Amount("치유 물약"))]),
        ("불꽃 검을 사용한다", [Intent(Act.WIELD, item=Amount("불꽃 검"))]),
        (
            "불꽃 검을 휘둘러 크룩을 공격한다",
            [Intent(Act.WIELD, item=Amount("불꽃 검")), Intent(Act.ATTACK, person="고블린왕 크룩")],
        ),
        ("칼로 늑대를 벤다", [Intent(Act.ATTACK, person="늑대", tool="칼")]),
        (
            "불꽃 검으로 크룩의 숨통을 끊는다!",
            [Intent(Act.ATTACK, person="고블린왕 크룩", tool="불꽃 검", deadly=True)],
        ),
        ("크룩에게 마지막 일격을 날린다", [Intent(Act.ATTACK, person="고블린왕 크룩", deadly=True)]),
        ("크룩을 죽이지 않는다", []),
        ("은화 두 닢을 버린다", [Intent(Act.DROP, item=Amount("은화", 2))]),
        ("모닥불 옆에서 쉰다", [Intent(Act.REST)]),
        ("고맙다고 에르겐에게 말한다", [Intent(Act.THANK, person="에르겐")]),
        ("크룩을 모욕한다", [Intent(Act.INSULT, person="고블린왕 크룩")]),
        ("계속", [Intent(Act.CONTINUE)]),
        ("내 인벤토리에 뭐가 있지?", [Intent(Act.ASK_INVENTORY)]),
        ("여기가 어디지?", [Intent(Act.ASK_PLACE)]),
        ("체력은 얼마나 남았지?", [Intent(Act.ASK_HP)]),
        ("곁에 누가 있지?", [Intent(Act.ASK_COMPANY)]),
        ("전에 마라가 뭐라고 했지?", [Intent(Act.ASK_PAST, person="마라")]),
        (
            "대붕괴에 대해 에르겐이 뭐라고 했는지 기억나?",
            [Intent(Act.ASK_PAST, person="에르겐", topic="대붕괴")],
        ),
        ("에르겐에게 대붕괴에 대해 묻는다", [Intent(Act.ASK_LORE, person="에르겐", topic="대붕괴")]),
        ('에르겐에게 "고대 열쇠가 뭐지?"라고 묻는다', [Intent(Act.ASK_LORE, person="에르겐", topic="고대 열쇠")]),
    ],
)
def test_korean(words: str, expected: list[Intent]) -> None:
    assert list(KOREAN.hear(words, KO)) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("I go to the Old Harbour.", [Intent(Act.GO, place="Old Harbour")]),
        ("I enter the Sunken Chapel", [Intent(Act.GO, place="Sunken Chapel")]),
        ("I look around.", [Intent(Act.LOOK)]),
        ('I call out to Krook: "Answer me!"', [Intent(Act.TALK, person="Krook the Goblin King")]),
        ("I sing a song", []),
        (
            "I say goodbye to Ysolde and head to the Sunken Chapel",
            [Intent(Act.PART, person="Ysolde"), Intent(Act.GO, place="Sunken Chapel")],
        ),
        ("I pick up the old map", [Intent(Act.TAKE, item=Amount("old map"))]),
        ("I take two healing potions", [Intent(Act.TAKE, item=Amount("healing potion", 2))]),
        (
            "I pay Ysolde three silver coins for a lantern",
            [Intent(Act.BUY, person="Ysolde", item=Amount("lantern"), price=Amount("silver coin", 3))],
        ),
        (
            "I greet Ysolde and buy two healing potions from her",
            [
                Intent(Act.TALK, person="Ysolde"),
                Intent(Act.BUY, person="Ysolde", item=Amount("healing potion", 2)),
            ],
        ),
        ("I hand Ysolde the flame sword", [Intent(Act.GIVE, person="Ysolde", item=Amount("flame sword"))]),
        ("I give the flame sword to Ysolde", [Intent(Act.GIVE, person="Ysolde", item=Amount("flame sword"))]),
        ("I drink a healing potion", [Intent(Act.DRINK, item=Amount("healing potion"))]),
        ("I use a potion", [Intent(Act.DRINK, item=Amount("potion"))]),
        ("I use the brass key on the door", [Intent(Act.WIELD, item=Amount("brass key"))]),
        (
            "I draw the flame sword and strike Krook",
            [
                Intent(Act.WIELD, item=Amount("flame sword")),
                Intent(Act.ATTACK, person="Krook the Goblin King"),
            ],
        ),
        (
            "I deliver the final blow to Krook with the flame sword!",
            [Intent(Act.ATTACK, person="Krook the Goblin King", tool="flame sword", deadly=True)],
        ),
        ("I attack the wolf", [Intent(Act.ATTACK, person="wolf")]),
        ("I don't kill Krook", []),
        ("I drop two silver coins", [Intent(Act.DROP, item=Amount("silver coin", 2))]),
        ("I take a rest", [Intent(Act.REST)]),
        ("I go to sleep", [Intent(Act.REST)]),
        ("I thank Ysolde", [Intent(Act.THANK, person="Ysolde")]),
        ("I insult Krook", [Intent(Act.INSULT, person="Krook the Goblin King")]),
        ("continue", [Intent(Act.CONTINUE)]),
        ("What do I carry?", [Intent(Act.ASK_INVENTORY)]),
        ("Where am I?", [Intent(Act.ASK_PLACE)]),
        ("How badly am I hurt?", [Intent(Act.ASK_HP)]),
        ("Who is with me?", [Intent(Act.ASK_COMPANY)]),
        ("What did Mara say before?", [Intent(Act.ASK_PAST, person="Mara")]),
        ("I ask Ysolde about the Drowning", [Intent(Act.ASK_LORE, person="Ysolde", topic="Drowning")]),
    ],
)
def test_english(words: str, expected: list[Intent]) -> None:
    assert list(ENGLISH.hear(words, EN)) == expected


@given(st.text(max_size=120))
def test_any_words_are_heard_without_an_error(words: str) -> None:
    for voice, scene in ((KOREAN, KO), (ENGLISH, EN), (KOREAN, Scene()), (ENGLISH, Scene())):
        assert all(intent.complete for intent in voice.hear(words, scene))


def test_the_language_is_that_of_the_words() -> None:
    assert voice_for("I greet 에르겐") is KOREAN
    assert voice_for("I greet Ysolde") is ENGLISH


def test_a_scene_is_read_from_the_block_in_either_language() -> None:
    korean = read_scene(
        "[SAGA: 지금 사실인 것]\n[최신 변경]\n위치: 어둠의 숲 | HP: 85/100 | 인벤토리: 불꽃 검, 치유 물약 ×2 | "
        "기분: tense\n"
        "플레이어: 아리아 | 곁에 있는 인물: 크룩, 에르겐\n근처 인물: 마라 | 갈 수 있는 곳: 마을 광장, 고대 유적\n"
        "[관련 로어북]\n- 대붕괴: 재앙: 300년 전.\n[지난 일]\n- 3턴: 인사했다\n[이벤트]\n- 열쇠 단서\n[/SAGA]"
    )
    english = read_scene(
        "words before\n\n[SAGA: what is true now]\n[Now]\n"
        "Place: 어둠의 숲 | HP: 85/100 | Inventory: 불꽃 검, 치유 물약 ×2 | Mood: tense\n"
        "Player: 아리아 | Present: 크룩, 에르겐\nNearby: 마라 | Ways: 마을 광장, 고대 유적\n"
        "[Lore]\n- 대붕괴: 재앙: 300년 전.\n[Earlier]\n- 3턴: 인사했다\n[Events]\n- 열쇠 단서\n[/SAGA]\n\nwords"
    )
    assert korean == english
    assert (korean.place, korean.hp, korean.max_hp, korean.mood) == ("어둠의 숲", 85, 100, "tense")
    assert korean.inventory == (("불꽃 검", 1), ("치유 물약", 2))
    assert (korean.present, korean.nearby, korean.ways) == (("크룩", "에르겐"), ("마라",), ("마을 광장", "고대 유적"))
    assert (korean.lore, korean.earlier, korean.events) == (
        (("대붕괴", "재앙: 300년 전."),),
        ("3턴: 인사했다",),
        ("열쇠 단서",),
    )


def test_without_a_block_nothing_is_told() -> None:
    assert read_scene("You are a narrator.", ("hello",)) == Scene(said=("hello",))
    assert not Scene().told


def test_the_block_is_taken_out_of_the_players_words() -> None:
    assert without_block("[SAGA: what is true now]\n[Now]\nPlace: X\n[/SAGA]\n\nI wait.") == "I wait."


def test_one_word_of_a_name_is_enough_unless_two_share_it() -> None:
    names = ("고블린왕 크룩", "고블린 족장 바르가", "치유 물약", "독 물약")
    assert resolve("크룩", names) == "고블린왕 크룩"
    assert resolve("치유물약", names) == "치유 물약"
    assert resolve("물약", names) == ""
    assert named_in("바르가와 크룩을 본다", names) == ["고블린 족장 바르가", "고블린왕 크룩"]
    assert named_in("크룩을 본다", names, whole=True) == []
