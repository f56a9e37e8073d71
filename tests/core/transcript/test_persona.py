"""The persona: the player's name, from what frontends and players write."""

from __future__ import annotations

import pytest

from saga_core.transcript import Persona, persona_of, read_transcript

GREETING = {"role": "assistant", "content": "The toll house smells of wet rope."}


def told(system: str, *messages: dict[str, str], said: str = "") -> Persona | None:
    words = messages or ({"role": "user", "content": "I come in."},)
    return persona_of(read_transcript([{"role": "system", "content": system or "."}, GREETING, *words]), said)


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("Write Ysolde's next reply in a fictional chat between Ysolde and Alex.", "Alex"),
        ("Write the next reply in a fictional group chat between Ida, Teo, Tom and Sam.", "Sam"),
        ("Write Ysolde's next reply in a fictional chat between Alex and Ysolde.", "Alex"),
        ("강민호와 서도윤의 가상 대화에서 강민호의 다음 답변을 쓰세요.", "서도윤"),
        ("강도윤과 리아의 롤플레이 채팅에서 리아의 다음 답변을 작성하세요.", "강도윤"),
        ("湊と志乃の架空のチャットで、志乃の次の返答を書いてください。", "湊"),
        ("ミレイユとハルの架空のチャットです。", "ハル"),
        ("灰浜の語り手として、語り手と涼のロールプレイの次の返答を書いてください。", "涼"),
        ("志乃、湊とさとしの架空のチャットです。", "さとし"),
        ("まことと涼のロールプレイです。", "涼"),
        ("はるとみおのロールプレイです。", "みお"),
        ("在叶知秋与沈默的虚构对话中，写出叶知秋的下一条回复。", "沈默"),
    ],
)
def test_the_sentence_that_opens_a_chat_is_sure(system: str, name: str) -> None:
    assert told(system) == Persona(name, sure=True)


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("[Alex Reed's persona: a rider of the Harrow Post.]", "Alex Reed"),
        ("The user is called Robin.", "Robin"),
        ("THE CAPTAIN (me): Teo Vance, thirty-one, hull cutter.", "Teo Vance"),
        ("호위무사 (나): 리안, 서른 살.", "리안"),
        ("記者（私）：朝倉渚、二十六歳の女。", "朝倉渚"),
        ("船长（我）：顾长风，三十二岁。", "顾长风"),
        ("You play every character except Robin.", "Robin"),
        ("Never speak for Robin.", "Robin"),
        ("서도윤의 대사와 행동을 대신 쓰지 않는다.", "서도윤"),
        ("유저의 이름은 강도윤이다.", "강도윤"),
        ("[강도윤] 플레이어의 캐릭터. 떠돌이 검사.", "강도윤"),
        ("# 플레이어\n강도윤. 떠돌이 검사.", "강도윤"),
        ("[Persona: Nell Farrow]\nNell mends nets.", "Nell Farrow"),
        ("[User's character: Nell Farrow] She mends nets.", "Nell Farrow"),
        ("{Persona: Nell}", "Nell"),
        ("[페르소나: 이서연]\n서연은 그물을 고친다.", "이서연"),
        ("【プレイヤー：白石結衣】\n結衣は網を繕う。", "白石結衣"),
        ("[用户: 林远]\n林远是渔夫。", "林远"),
        ("[湊の台詞や行動を勝手に決めないこと。]", "湊"),
        ("绝不替林渡说话或做决定。", "林渡"),
    ],
)
def test_other_words_about_the_player_are_likely(system: str, name: str) -> None:
    assert told(system) == Persona(name)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("My name is Alex Reed. I came by the east road.", "Alex Reed"),
        ("제 이름은 서도윤입니다.", "서도윤"),
        ("僕の名前はハルです。", "ハル"),
        ("我叫林渡。", "林渡"),
    ],
)
def test_players_say_who_they_are(words: str, name: str) -> None:
    assert told("", {"role": "user", "content": words}) == Persona(name)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("I nod. 'I'm Dana. I taught gym.'", ("Dana",)),
        ("It's Robin Hale, ma'am.", ("Robin Hale",)),
        ('"서단이야. 다들 단이라고 불러."', ("서단", "단")),
        ("저는 김하늘입니다.", ("김하늘",)),
        ("「春日ハルトです。ハルトと呼んでください」", ("春日ハルト", "ハルト")),
        ("我是沈墨。", ("沈墨",)),
        ("“叫我阿墨就好。”", ("阿墨",)),
    ],
)
def test_other_words_of_players_may_be_a_name(words: str, names: tuple[str, ...]) -> None:
    found = told("", {"role": "user", "content": words})
    assert found == Persona("", claims=names)


@pytest.mark.parametrize(
    "system",
    [
        "Write The Outbreak's next reply in a fictional chat between The Outbreak and User.",
        "ユーザーの台詞や行動を勝手に決めないこと。",
        "사용자의 대사와 행동을 대신 쓰지 않는다.",
        "绝不替用户说话或做决定。",
    ],
)
def test_a_frontends_word_for_the_player_is_no_name(system: str) -> None:
    assert told(system) is None
    assert told(system, {"role": "user", "content": "My name is Dana."}) == Persona("Dana")
    assert told(system, {"role": "user", "content": "I come in.", "name": "User"}) is None


def test_a_word_that_begins_a_message_is_no_name() -> None:
    assert told("", {"role": "user", "content": "Evening. I go to the loft alone with Tam."}) is None


def test_whoever_a_reply_named_before_is_called_and_not_the_player() -> None:
    reply = {"role": "assistant", "content": "Marget wipes her hands."}
    assert (
        told("", {"role": "user", "content": "Hm."}, reply, {"role": "user", "content": "Marget. I need a bed."})
        is None
    )


def test_the_best_source_wins() -> None:
    system = "Write Ysolde's next reply in a fictional chat between Ysolde and Alex."
    named = {"role": "user", "content": "I come in.", "name": "Robin"}
    assert told(system, named) == Persona("Robin", sure=True)
    assert told(system, named, said="Kim") == Persona("Kim", sure=True)


def chat(*lines: str, system: str = "", name: str = "Anna") -> Persona | None:
    """The persona of a chat whose replies begin with a name. ``lines`` are the player's messages."""
    told = [{"role": "system", "content": system or "."}, {"role": "assistant", "content": f"{name}: We are here."}]
    for line in lines:
        told += [{"role": "user", "content": line}, {"role": "assistant", "content": f"{name}: I see."}]
    return persona_of(read_transcript(told[:-1]))


CALLED = ["Alex", "luna", "Mira of Sarn", "The Captain", "Will", "Jean-Luc de la Tour", "카이 로스", "湊", "林渡"]
BETWEEN = "Write Anna's next reply in a fictional chat between Anna and {}."


@pytest.mark.parametrize("name", CALLED)
def test_a_prefix_counts_where_all_messages_have_one(name: str) -> None:
    lines = [f"{name}: {text}" for text in ("Wait!", "Who is there?", "Listen: I hear it too.")]
    assert chat(*lines) == chat(*lines[:2]) == Persona(name, sure=True)
    assert chat("[Start a new chat]", *lines[:2]) == chat("The rain falls.", *lines) == Persona(name, sure=True)
    if name not in ("luna", "Will"):
        assert chat(*lines[:1]) == Persona(name), "one message shows less"
    assert chat(*lines[:1], system=BETWEEN.format(name)) == Persona(name, sure=True)
    assert chat(*lines, "Robin: I come in.") == Persona("Robin", sure=True)


@pytest.mark.parametrize(
    "lines",
    [
        ("I enter.", "I look around.", "Listen: we must go."),
        ("I enter.", "Listen: we must go."),
        ("Listen: we must go.", "I enter.", "Listen: we must hurry."),
        ("I shout: run!",),
        ("I shout: run!", "I shout: faster!"),
        ("I whisper to Anna: the code is 4711.", "Then: nothing happens.", "She says: come here."),
        ("Then: nothing happens.",),
        ("Me: I wait.", "Me: I go."),
        ("나는 외친다: 도망쳐!", "안나에게 속삭인다: 암호는 4711."),
        ("나는 외친다: 도망쳐!",),
        ("私は言う: 逃げろ！",),
        ("我喊: 快跑！",),
    ],
)
def test_a_sentence_with_a_colon_is_no_name(lines: tuple[str, ...]) -> None:
    assert chat(*lines) is None
    assert chat(*lines, system="Never speak for Dez.") == Persona("Dez")
    assert told("", {"role": "user", "content": "Note: it is cold."}) is None


def test_a_word_that_the_chat_has_in_small_letters_is_no_name() -> None:
    assert chat("Listen: we must go.", system="Anna does not listen to anybody.") is None
    assert chat("Listen: we must go.", "Wait: I hear steps.", system="They wait and listen.") is None


def test_the_card_names_the_player_before_one_sentence_does() -> None:
    for system in ("[User: Dez, a courier]", "Dez's persona: a courier."):
        assert chat("Listen: we must go.", system=system) == Persona("Dez")
        assert chat("Dez: We must go.", system=system) == Persona("Dez", sure=True)
    assert chat("Listen: we must go.", system=BETWEEN.format("Dez")) == Persona("Dez", sure=True)


@pytest.mark.parametrize(
    "system", ["", "A story about a chat between friends.", "{{user}} is the player.", "x" * 50_000]
)
def test_nothing_tells(system: str) -> None:
    found = told(system)
    assert found is None or found.name == "friends"


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ("# The crew\nOda plans.\n\n# The player\nWren is twenty-six and opens locks.", "Wren"),
        ("Rules first.\n\n[Player: Alex Reed, a courier of forty]", "Alex Reed"),
        ("### User's Persona\n**Name:** Mira of Sarn\n**Age:** 20", "Mira of Sarn"),
        ("Player character: Jory (a sailor)", "Jory"),
        ("<user>\nName: Tamsin\nSpecies: elf\n</user>", "Tamsin"),
        ("## 주인공\n하진은 스물여섯 살의 자물쇠공이다.", "하진"),
        ("[플레이어 정보]\n이름: 서도윤\n나이: 17", "서도윤"),
        ("플레이어: 강태준 (팀장)", "강태준"),
        ("【プレイヤー】\n名前：疾風\n忍びの里の若者。", "疾風"),
        ("## 主人公\nハルは旅の薬師だ。", "ハル"),
        ("# 玩家角色\n林渡是外门杂役。", "林渡"),
        ("【用户设定】\n姓名：沈默\n年龄：三十", "沈默"),
    ],
)
def test_a_section_about_the_player_begins_with_the_name(card: str, name: str) -> None:
    found = told(card)
    assert found is not None and (found.name, found.sure) == (name, False)


@pytest.mark.parametrize(
    "card",
    [
        "Play every character except the player's. Write one reply at a time.",
        "# The player\nYou are a wanderer without a name.",
        "Player: Never control the player, never speak for the player.",
        "# Player\nThis is written by somebody else.",
        "The user is always right, and the player decides.",
        "Never speak for your partner. Player agency is everything.",
        "플레이어: 자유롭게 행동한다.",
        "# 주인공\n당신은 이름 없는 나그네다.",
        "플레이어의 행동을 대신 쓰지 않는다.",
        "主人公：あなたは旅人です。",
        "玩家：你是一个没有名字的旅人。",
        "主角：一名普通的大学生，刚刚搬来。",
    ],
)
def test_a_section_about_the_player_without_a_name_names_nobody(card: str) -> None:
    assert told(card) is None


@pytest.mark.parametrize("said", ["I'm Nothing.", '"Nothing." I shrug.', "It's Everything!"])
def test_a_word_for_nothing_is_no_name(said: str) -> None:
    assert told("", {"role": "user", "content": said}) is None
