"""Chats that look alike: what the history shows of each of them decides, however far above it stands."""

from __future__ import annotations

import pytest

from saga_core.transcript import Match, read_transcript
from tests.core.transcript.known import EN, KO, Shelf, told

GREETINGS = ("The river is high tonight, and the ferrywoman waits at the pier.", "오늘 밤 강물이 높다.")
LONG = "She nods slowly and says nothing for a long while. " * 6
REPLIES = ("Yes.", "네.", EN[0], KO[0], LONG)
"""Too short to prove a place, long enough, and long enough to prove it regardless of the path."""
CROWD = 12


async def found(shelf: Shelf, *texts: str, greeting: str = "", only: str = "") -> Match:
    """The place of a chat that goes on with the last of ``texts``."""
    before = [{"role": "assistant", "content": greeting}] if greeting else []
    return await shelf.matcher.match(
        read_transcript([*before, *told(*texts)]), owner="", only=shelf.sessions[only] if only else None
    )


@pytest.mark.parametrize("greeting", ["", *GREETINGS])
@pytest.mark.parametrize("reply", REPLIES, ids=len)
async def test_a_turn_that_was_swiped_or_deleted_is_not_taken_for_the_one_that_is_shown(
    reply: str, greeting: str
) -> None:
    """The same words got the same reply once more, farther down."""
    shelf = Shelf()
    _, first, second, _ = await shelf.story("I go on.", reply, "I go on.", reply, "I go on.", reply, greeting=greeting)
    place = await found(shelf, "I go on.", reply, "I go on.", greeting=greeting)
    assert place.parent == first
    place = await found(shelf, "I go on.", reply, "I go on.", reply, "Who is there?", greeting=greeting)
    assert place.parent == second


@pytest.mark.parametrize("reply", REPLIES, ids=len)
async def test_a_reply_behind_another_one_is_not_taken_for_it_either(reply: str) -> None:
    shelf = Shelf()
    _, first, _, _ = await shelf.story("I go on.", reply, "What now?", "Hm.", "I go on.", reply, greeting=GREETINGS[0])
    place = await found(shelf, "I go on.", reply, "Tell me of the river.", greeting=GREETINGS[0])
    assert place.parent == first


@pytest.mark.parametrize("apart", [1, 2, 4, 7], ids=lambda turn: f"the words of turn {turn} differ")
@pytest.mark.parametrize("reply", REPLIES, ids=len)
async def test_words_that_differ_anywhere_tell_two_chats_apart(reply: str, apart: int) -> None:
    """The replies are the same throughout, and so are the other words."""
    shelf, turns = Shelf(), 7
    chats = {}
    for name in ("ada", "bob"):
        words = [f"{name} asks." if turn == apart else f"{turn}: what now?" for turn in range(1, turns + 1)]
        chats[name] = [text for word in words for text in (word, reply)]
    last = {name: (await shelf.story(*chat, session=name))[-1] for name, chat in chats.items()}
    for name, chat in chats.items():
        assert (await found(shelf, *chat, "Go on.")).parent == last[name]
        if apart > 1:  # the beginning is cut off, and what differs is shown
            start = 2 * (apart - 2)
            assert (await found(shelf, *chat[start:], "Go on.")).parent == last[name]


@pytest.mark.parametrize("apart", ["greeting", "words", "reply"])
@pytest.mark.parametrize("turns", [1, 2, 7])
@pytest.mark.parametrize("reply", REPLIES, ids=len)
async def test_what_only_the_beginning_shows_finds_a_chat_in_a_crowd(reply: str, turns: int, apart: str) -> None:
    """More chats have each of the texts below than are searched for one."""
    shelf = Shelf()
    for number in range(CROWD):
        greeting = f"Tree {number} stands beside the house in which you wake." if apart == "greeting" else GREETINGS[0]
        first = f"I pick up leaf {number}." if apart == "words" else "What now?"
        begun = f"You find leaf {number} on the ground, wet." if apart == "reply" else reply
        chat = [first, begun, *["What now?", reply] * (turns - 1)]
        last = (await shelf.story(*chat, session=f"s{number:02}", greeting=greeting))[-1]
        if number == 0:
            shown, wanted = (greeting, chat), last
    place = await found(shelf, *shown[1], "Stop here.", greeting=shown[0])
    assert place.parent == wanted
    place = await found(shelf, *shown[1], "Stop here.", greeting=shown[0], only="s00")
    assert place.parent == wanted


@pytest.mark.parametrize("chats", [2, 3, 8, CROWD])
@pytest.mark.parametrize("reply", REPLIES, ids=len)
async def test_one_reply_alone_that_several_chats_have_proves_nothing(reply: str, chats: int) -> None:
    shelf = Shelf()
    for number in range(chats):
        await shelf.story(
            f"Tale {number}, please.", f"Tale {number} it shall be.", "On.", reply, session=f"s{number:02}"
        )
    place = await shelf.matcher.match(
        read_transcript([{"role": "assistant", "content": reply}, *told("And the wolf?")]), owner=""
    )
    assert place.session is None


@pytest.mark.parametrize("reply", REPLIES, ids=len)
async def test_of_two_chats_the_one_without_a_gap_is_meant(reply: str) -> None:
    """The window shows two replies, between which the newer chat has another one."""
    shelf = Shelf()
    ada = ["I am Ada of the mill.", EN[1], "What now?", "Hm.", "I go on.", reply]
    bob = ["I am Bob of the sea.", KO[1], "What now?", "Hm.", "Who is there?", "Only Bob.", "I go on.", reply]
    wanted = (await shelf.story(*ada, session="ada"))[-1]
    await shelf.story(*bob, session="bob")
    assert (await found(shelf, *ada[2:], "Stop here.")).parent == wanted


@pytest.mark.parametrize("greeting", GREETINGS)
@pytest.mark.parametrize("reply", REPLIES, ids=len)
async def test_the_end_of_a_story_that_repeats_itself_is_its_end(reply: str, greeting: str) -> None:
    shelf, turns = Shelf(), ["I go on.", reply] * 30
    last = (await shelf.story(*turns, greeting=greeting))[-1]
    for shown in (2, 4, 12):
        assert (await found(shelf, *turns[-shown:], "Who is there?")).parent == last


STOCK = "The rain goes on. Nothing else happens."
"""Thirty-eight letters, with which any story may go on."""


@pytest.mark.parametrize("words", ["I look out.", "서연아, 배고프다."], ids=["other words", "the same words"])
@pytest.mark.parametrize("others", [1, 2])
async def test_a_chat_whose_replies_are_known_stays_where_most_of_them_are(others: int, words: str) -> None:
    """Its last reply was never told there, but in other stories."""
    shelf = Shelf()
    told_here = [
        text for number in range(6) for text in (f"{number}째 길을 간다.", f"{number}째 숲길이 어두워지고 새가 운다.")
    ]
    last = (await shelf.story(*told_here, session="here"))[-1]
    for number in range(others):
        other = ["Who is there?", f"Nobody, answers the bee {number}.", "So?", "Hm.", words, STOCK]
        await shelf.story(*other, session=f"bees{number}")
    place = await found(shelf, *told_here, "서연아, 배고프다.", STOCK, "서연아?")
    assert (place.session, place.parent) == ("here", last)
    assert [each.text for each in place.unknown] == ["서연아, 배고프다.", STOCK]
