"""A reply that many chats have, or one chat many times: the words that it answers and the path above it decide."""

from __future__ import annotations

import pytest
from attrs import define, field

from saga_core.model import Tree
from saga_core.transcript import Match, read_transcript
from tests.core.transcript.known import EN, KO, Shelf, told
from tests.core.transcript.test_equal_messages import asked

SAID = ["Yes.", "네.", EN[0], KO[0], "The gate stands open. " * 12]
"""Too short to prove a place, long enough, and long enough to prove it regardless of the path."""
MANY = 80


@define
class Loaded(Shelf):
    """Sessions that are in memory, as on a server."""

    trees: dict[str, Tree] = field(factory=dict)

    async def tree(self, session: str) -> Tree:
        if session not in self.trees:
            self.trees[session] = await Shelf.tree(self, session)
        return self.trees[session]


def words(number: int) -> str:
    return f"I am guest {number} and walk to gate {number}."


async def found(shelf: Shelf, *texts: str) -> Match:
    """The place of a chat that goes on with new words."""
    return await shelf.matcher.match(read_transcript(told(*texts, "And now?")), owner="")


@pytest.fixture
async def crowd(request: pytest.FixtureRequest) -> tuple[Shelf, str, list[list[str]]]:
    """Chats with the same first reply to different words, and the ids of their turns."""
    shelf, reply = Shelf(), request.param
    ids = [await shelf.story(words(number), reply, session=f"s{number:02}") for number in range(MANY)]
    return shelf, reply, ids


@pytest.mark.parametrize("crowd", SAID, indirect=True, ids=len)
async def test_the_words_tell_the_chat(crowd: tuple[Shelf, str, list[list[str]]]) -> None:
    shelf, reply, ids = crowd
    for number in (0, 1, 40, MANY - 1):
        place = await found(shelf, words(number), reply)
        assert (place.session, place.parent) == (f"s{number:02}", ids[number][-1])


@pytest.mark.parametrize("crowd", SAID, indirect=True, ids=len)
async def test_a_chat_that_is_named_is_searched_however_old_it_is(crowd: tuple[Shelf, str, list[list[str]]]) -> None:
    shelf, reply, ids = crowd
    asked_for = read_transcript(told(words(0), reply, "And now?"))
    place = await shelf.matcher.match(asked_for, owner="", only=shelf.sessions["s00"])
    assert (place.parent, place.how) == (ids[0][-1], "reply")


@pytest.mark.parametrize("crowd", SAID, indirect=True, ids=len)
async def test_other_words_belong_to_none_of_them(crowd: tuple[Shelf, str, list[list[str]]]) -> None:
    shelf, reply, _ = crowd
    assert (await found(shelf, "I was never here before, and ask for the way.", reply)).session is None


@pytest.mark.parametrize("reply", SAID, ids=len)
async def test_not_even_of_two(reply: str) -> None:
    shelf = Shelf()
    for number in range(2):
        await shelf.story(words(number), reply, session=f"s{number:02}")
    assert (await found(shelf, "I was never here before, and ask for the way.", reply)).session is None


@pytest.mark.parametrize("crowd", SAID, indirect=True, ids=len)
async def test_the_path_tells_the_chat(crowd: tuple[Shelf, str, list[list[str]]]) -> None:
    """Words and reply are the same in all of them; only what was before differs."""
    shelf, reply, ids = crowd
    for path in ids:
        path.append(await shelf.tell(path[-1], "I nod.", "He nods, too, and says nothing for a long while."))
        path.append(await shelf.tell(path[-1], "I nod.", reply))
    for number in (0, 1, 40, MANY - 1):
        texts = ("I nod.", "He nods, too, and says nothing for a long while.", "I nod.", reply)
        assert (await found(shelf, words(number), reply, *texts)).parent == ids[number][-1]


@pytest.mark.parametrize("reply", SAID, ids=len)
async def test_a_story_that_repeats_a_reply_goes_on_where_it_is(reply: str) -> None:
    shelf = Shelf()
    texts = [text for number in range(MANY) for text in (words(number), reply)]
    ids = await shelf.story(*texts)
    for end in (2, 24, 60, 2 * MANY):
        assert (await found(shelf, *texts[:end])).parent == ids[end // 2], "with its whole history"
    for end in (24, 60, 2 * MANY):
        assert (await found(shelf, *texts[end - 12 : end])).parent == ids[end // 2], "with the end of its history"


@pytest.mark.parametrize("reply", SAID, ids=len)
async def test_a_story_of_equal_turns_goes_on_at_its_end(reply: str) -> None:
    shelf = Shelf()
    ids = await shelf.story(*("On.", reply) * MANY)
    assert (await found(shelf, *("On.", reply) * MANY)).parent == ids[-1]


@pytest.mark.parametrize("reply", SAID, ids=len)
async def test_of_equal_beginnings_the_newest_goes_on(reply: str) -> None:
    shelf = Shelf()
    ids = [await shelf.story("Hello.", reply, session=f"s{number:02}") for number in range(MANY)]
    assert (await found(shelf, "Hello.", reply)).parent == ids[-1][-1]
    assert (await found(shelf, "Hello.")).session == f"s{MANY - 1:02}"


@pytest.mark.parametrize("reply", SAID, ids=len)
async def test_a_reply_that_is_repeated_costs_no_more_with_each_time(reply: str) -> None:
    calls = []
    for turns in (70, 280):
        shelf = Shelf()
        texts = [text for number in range(turns) for text in (words(number), reply)]
        ids = await shelf.story(*texts)
        place, called = await asked(Loaded(shelf.journal, shelf.sessions), *texts[-12:])
        assert place.parent == ids[-1]
        calls.append(called)
    assert calls[1] < 1.5 * calls[0]
