"""The player's words as witness, where no reply is as it was told."""

from __future__ import annotations

import pytest

from saga_core.model import TurnKind
from saga_core.transcript import read_transcript, words_key
from saga_core.transcript.evidence import PlayerTextMatcher, ReplyEvidence
from tests.core.transcript.known import EN, KO, Shelf, told, user

WORDS = {
    "ko": [
        "성문으로 걸어가 늙은 파수꾼을 찾아 이름을 부른다.",
        "그에게 돌 밑의 열쇠에 대해 조용히 물어본다.",
        "열쇠를 들고 탑으로 올라가 문을 열어 본다.",
    ],
    "en": [
        "I walk to the gate and look for the old guard.",
        "I ask him about the key under the stone.",
        "I climb the tower and try the door.",
    ],
}
REPLIES = {
    "ko": [*KO, "탑은 높고 계단은 미끄럽다. 문은 녹이 슬었다."],
    "en": [*EN, "The tower is high and its stairs are slippery."],
}


async def find(
    shelf: Shelf, *texts: str, owner: str = "", accepted: tuple[str, ...] = ("s1", "s2")
) -> ReplyEvidence | None:
    async def accepts(session: str) -> bool:
        return session in accepted

    past = read_transcript([*told(*texts), *user("next")]).past
    return await PlayerTextMatcher(shelf.journal, shelf.tree, accepts).find_place(past, owner)


def mixed(words: list[str], replies: list[str]) -> list[str]:
    return [text for pair in zip(words, replies, strict=False) for text in pair]


@pytest.fixture(params=["ko", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_edited_replies_that_are_still_alike_make_the_place_certain(language: str) -> None:
    shelf = Shelf()
    words, replies = WORDS[language], REPLIES[language]
    ids = await shelf.story(*mixed(words, replies))
    edited = [f"{reply[:-2]}!" for reply in replies]
    found = await find(shelf, *mixed(words, edited))
    assert found is not None and found.certain
    assert (found.parent.id, found.start, found.agreeing) == (ids[2], 4, {ids[1], ids[2]})


async def test_where_a_person_may_have_rewritten_the_replies_it_is_a_guess(language: str) -> None:
    shelf = Shelf()
    words, replies = WORDS[language], REPLIES[language]
    ids = await shelf.story(*mixed(words, replies))
    found = await find(shelf, *mixed(words[1:], ["Nothing of it happened.", "아무 일도 없었다."]))
    assert found is not None and not found.certain
    assert (found.parent.id, found.start) == (ids[2], 2)


async def test_where_very_many_are_unlike_a_machine_did_that() -> None:
    shelf = Shelf()
    words = [f"I try the door number {number} of the long corridor." for number in range(8)]
    ids = await shelf.story(*mixed(words, [f"{number}. {EN[0]}" for number in range(8)]))
    found = await find(shelf, *mixed(words, [f"{number}: 문은 잠겨 있고 복도는 길다." for number in range(8)]))
    assert found is not None and found.certain and found.parent.id == ids[7]


async def test_the_chats_first_words_are_certain_where_nothing_stands_above_them() -> None:
    shelf = Shelf()
    root, _ = await shelf.story(WORDS["en"][0], EN[0])
    found = await find(shelf, WORDS["en"][0], "Another reply altogether.")
    assert found is not None and found.certain and (found.parent.id, found.start) == (root, 0)
    above = await find(shelf, "What came before this?", "Nothing.", WORDS["en"][0], "Another reply altogether.")
    assert above is None, "they stand in the middle of another chat"


async def test_short_words_need_others_above_them_to_agree() -> None:
    shelf = Shelf()
    ids = await shelf.story("응.", KO[0], "그래.", KO[1], "좋아.", REPLIES["ko"][2])
    assert await find(shelf, "몰라.", "모른다.", "좋아.", "다른 말.") is None
    found = await find(shelf, "응.", "다른 말.", "그래.", "또 다른 말.", "좋아.", "아주 다른 말.")
    assert found is not None and found.parent.id == ids[2]


async def test_unknown_words_and_no_words_tell_nothing() -> None:
    shelf = Shelf()
    await shelf.story(*mixed(WORDS["en"], REPLIES["en"]))
    assert await find(shelf, "I have never said this in all my life.", "No.") is None
    assert await find(shelf) is None


async def test_asides_others_owners_and_sessions_that_are_not_accepted_tell_nothing() -> None:
    shelf = Shelf()
    ids = await shelf.story(*mixed(WORDS["en"], REPLIES["en"]), owner="mina")
    texts = mixed(WORDS["en"], [f"{reply}!" for reply in REPLIES["en"]])
    assert await find(shelf, *texts, owner="jun") is None
    assert await find(shelf, *texts, owner="mina", accepted=("s2",)) is None
    found = await find(shelf, *texts, owner="mina")
    assert found is not None and found.parent.id == ids[2]


async def test_the_deepest_words_that_are_known_name_the_place() -> None:
    shelf = Shelf()
    ids = await shelf.story(*mixed(WORDS["en"], REPLIES["en"]))
    texts = mixed(WORDS["en"], [f"{reply}!" for reply in REPLIES["en"]])
    found = await find(shelf, *texts, "This is all new to everybody.", "Yes.")
    assert found is not None and (found.parent.id, found.start) == (ids[2], 4)


async def test_of_two_branches_the_one_whose_replies_are_alike() -> None:
    shelf = Shelf()
    first, second, third = WORDS["en"]
    root, one, _ = await shelf.story(first, EN[0], second, EN[1])
    other = await shelf.tell(root, first, "A crowd fills the street and nobody lets you through.")
    await shelf.tell(other, second, EN[1])
    crowd = "A crowd fills the street and nobody lets you pass."
    found = await find(shelf, first, crowd, second, "He nods.")
    assert found is not None and found.certain and found.parent.id == other
    assert one != other and third


def test_words_in_several_messages_are_told_from_the_same_in_one() -> None:
    one, two = read_transcript(user("가자 더")).words, read_transcript(user("가자", "더")).words
    assert words_key(one) != words_key(two)
    assert words_key(read_transcript(user("*가자*", "더")).words) == words_key(two)
    assert words_key(()) != words_key(read_transcript(user(".")).words)


async def test_what_a_side_request_said_is_no_witness() -> None:
    shelf = Shelf()
    root, first = await shelf.story("go", EN[0])
    await shelf.tell(first, WORDS["en"][1], "A summary.", kind=TurnKind.SIDE)
    assert root and await find(shelf, "stop", "No.", WORDS["en"][1], "Nothing.") is None
