"""Finding a transcript's place: which turn its history proves, and what behind it is not known."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from saga_core.model import TurnKind
from saga_core.transcript import Match, opening_key, read_transcript
from tests.core.transcript.known import EN, KO, Shelf, first_request, told, user


async def place(shelf: Shelf, messages: list[dict[str, Any]], **options: Any) -> Match:
    return await shelf.matcher.match(read_transcript(messages), **{"owner": "", **options})


def named(name: str) -> Callable[[], Awaitable[str]]:
    async def world() -> str:
        return name

    return world


def texts(match: Match) -> list[str]:
    return [utterance.text for utterance in match.unknown]


@pytest.fixture(params=[KO, EN], ids=["ko", "en"])
def replies(request: pytest.FixtureRequest) -> list[str]:
    found: list[str] = request.param
    return found


async def test_nothing_known_is_no_session_and_all_but_the_greeting_is_unknown() -> None:
    greeting = {"role": "assistant", "content": "어서 오세요."}
    match = await place(Shelf(), [greeting, *told("가자", "간다."), *user("더")])
    assert (match.session, match.parent, match.how, match.shown) == (None, "", "none", frozenset())
    assert texts(match) == ["가자", "간다."]


async def test_a_reply_names_its_turn_however_it_is_decorated(replies: list[str]) -> None:
    shelf = Shelf()
    root, first, second = await shelf.story("go", replies[0], "on", replies[1])
    match = await place(shelf, [*told("go", f"*{replies[0]}*", "on", f"Mina: “{replies[1]}”"), *user("next")])
    assert (match.session, match.parent, match.how, match.unknown) == ("s1", second, "reply", ())
    assert match.shown == {first, second}
    back = await place(shelf, [*told("go", replies[0]), *user("elsewhere")])
    assert (back.parent, back.shown) == (first, {first})
    assert root not in match.shown


async def test_the_greeting_of_a_known_chat_is_shown_and_proves_nothing_before_the_first_words() -> None:
    shelf = Shelf()
    root, first = await shelf.story("가자", KO[0], greeting=KO[1])
    greeting = {"role": "assistant", "content": KO[1]}
    assert (await place(shelf, [greeting, *told("가자", KO[0]), *user("더")])).shown == {root, first}
    assert (await place(shelf, [greeting, *user("돌아가자")])).how == "none"


async def test_a_reply_that_goes_on_is_a_sibling_to_be(replies: list[str]) -> None:
    shelf = Shelf()
    _, first, _ = await shelf.story("go", replies[0], "on", replies[1])
    grown = replies[1] + " And then, 그리고."
    match = await place(shelf, [*told("go", replies[0], "on", grown), *user("next")])
    assert (match.parent, match.how, match.shown) == (first, "grown", {first})
    assert texts(match) == ["on", grown]


async def test_a_reply_that_was_cut_is_a_sibling_to_be(replies: list[str]) -> None:
    shelf = Shelf()
    _, first, _ = await shelf.story("go", replies[0], "on", replies[1])
    match = await place(shelf, [*told("go", replies[0], "on", replies[1][:25]), *user("next")])
    assert (match.parent, match.how) == (first, "cut")
    assert texts(match) == ["on", replies[1][:25]]


async def test_several_words_before_a_changed_reply_are_all_unknown() -> None:
    shelf = Shelf()
    _, first, _ = await shelf.story("go", EN[0], "on", EN[1])
    messages = [*told("go", EN[0]), *user("wait", "on"), {"role": "assistant", "content": EN[1][:40]}, *user("next")]
    match = await place(shelf, messages)
    assert (match.parent, texts(match)) == (first, ["wait", "on", EN[1][:40]])


async def test_what_stands_behind_the_last_known_reply_is_unknown(replies: list[str]) -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", replies[0])
    match = await place(shelf, [*told("go", replies[0], "on", "something new, 새로운 것"), *user("next")])
    assert (match.parent, match.how, texts(match)) == (first, "reply", ["on", "something new, 새로운 것"])


async def test_the_longest_run_wins_over_the_newest() -> None:
    shelf = Shelf()
    _, _, long = await shelf.story("go", KO[0], "elsewhere", KO[1])
    await shelf.story("on", KO[1], session="s2")
    history = [*told("go", KO[0], "on", KO[1]), *user("next")]
    assert (await place(shelf, history)).parent == long


async def test_of_equal_runs_the_one_whose_words_agree_wins_and_then_the_newest() -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", KO[0])
    other = await shelf.tell("s1-root", "run", KO[0])
    newest = await shelf.tell("s1-root", "run", KO[0])
    assert other < newest
    assert (await place(shelf, [*told("go", KO[0]), *user("next")])).parent == first
    assert (await place(shelf, [*told("run", KO[0]), *user("next")])).parent == newest


async def test_a_short_reply_needs_its_words_or_its_neighbours() -> None:
    shelf = Shelf()
    _, first, second = await shelf.story("go", EN[0], "is it?", "Yes.")
    assert (await place(shelf, [*told("go", "Hm.", "is it?", "Yes."), *user("next")])).parent == second
    assert (await place(shelf, [*told("x", EN[0], "y", "Yes."), *user("next")])).parent == second
    # Unlike words and an unknown reply above: it may be any "Yes.".
    assert (await place(shelf, [*told("x", "Hm.", "y", "Yes."), *user("next")])).how == "none"
    assert first != second


async def test_a_short_reply_that_is_the_chats_first_is_believed() -> None:
    shelf = Shelf()
    _, first = await shelf.story("is it?", "응.")
    assert (await place(shelf, [*told("is it?", "응."), *user("next")])).parent == first
    assert (await place(shelf, [{"role": "assistant", "content": "응."}, *user("next")])).parent == first


async def test_a_short_first_reply_to_other_words_is_that_of_another_chat() -> None:
    shelf = Shelf()
    await shelf.story("hello one, the ship", "He nods.")
    assert (await place(shelf, [*told("good morning sister", "He nods."), *user("shall we pray")])).how == "none"
    greeting = {"role": "assistant", "content": KO[0]}
    _, known = await shelf.story("is it?", "No.", greeting=KO[0], session="s2")
    assert (await place(shelf, [greeting, *told("edited", "No."), *user("next")])).parent == known
    assert (await place(shelf, [{**greeting, "content": KO[1]}, *told("x", "No."), *user("next")])).how == "none"


async def test_gaps_are_allowed_where_messages_were_hidden() -> None:
    shelf = Shelf()
    middle = "The rain goes on for hours and nobody says anything at all."
    _, first, hidden, last = await shelf.story("go", EN[0], "wait", middle, "on", EN[1])
    match = await place(shelf, [*told("go", EN[0], "on", EN[1]), *user("next")])
    assert match.parent == last and match.shown == {first, last} and hidden not in match.shown


async def test_others_stories_are_not_seen() -> None:
    shelf = Shelf()
    await shelf.story("go", KO[0], owner="mina")
    history = [*told("go", KO[0]), *user("next")]
    assert (await place(shelf, history, owner="jun")).how == "none"
    assert (await place(shelf, history, owner="mina")).how == "reply"


async def test_only_one_session_is_searched_where_it_is_named() -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", KO[0])
    root = await shelf.begin("s2")
    history = [*told("go", KO[0]), *user("next")]
    assert (await place(shelf, history, only=shelf.sessions["s1"])).parent == first
    elsewhere = await place(shelf, history, only=shelf.sessions["s2"])
    assert (elsewhere.session, elsewhere.parent, elsewhere.how) == ("s2", root, "session")
    assert texts(elsewhere) == ["go", KO[0]]


async def test_a_chat_that_begins_alike_is_that_session_begun_again_in_the_same_world() -> None:
    shelf = Shelf()
    root, _ = await shelf.story("가자", KO[0])
    again = await place(shelf, user("가자"), world=named("ersia"))
    assert (again.session, again.parent, again.how, again.unknown) == ("s1", root, "opening", ())
    assert (await place(shelf, user("가자"), world=named("elsewhere"))).session is None
    assert (await place(shelf, user("멈추자"), world=named("ersia"))).session is None


async def test_the_newest_of_the_chats_that_begin_alike_is_taken() -> None:
    shelf = Shelf()
    await shelf.story("go", EN[0], session="s1")
    await shelf.story("go", EN[1], session="s2")
    assert (await place(shelf, user("go"))).session == "s2"


async def test_words_name_the_place_where_no_reply_is_as_it_was() -> None:
    shelf = Shelf()
    words = ["I walk to the gate and look for the old guard.", "I ask him about the key under the stone."]
    _, first, _ = await shelf.story(words[0], EN[0], words[1], EN[1])
    edited = EN[0].replace("lamp", "lantern")
    match = await place(shelf, [*told(words[0], edited, words[1], "He shakes his head."), *user("next")])
    assert (match.parent, match.how) == (first, "words")
    assert texts(match) == [words[1], "He shakes his head."]


async def test_words_are_looked_for_in_the_named_session_alone() -> None:
    shelf = Shelf()
    words = ["I walk to the gate and look for the old guard.", "I ask him about the key under the stone."]
    await shelf.story(words[0], EN[0], words[1], EN[1])
    root = await shelf.begin("s2")
    history = [*told(words[0], "Nothing.", words[1], "He shakes his head."), *user("next")]
    match = await place(shelf, history, only=shelf.sessions["s2"])
    assert (match.session, match.parent, match.how) == ("s2", root, "session")


async def test_replies_of_a_group_that_came_as_one_message_are_known_each() -> None:
    shelf = Shelf()
    _, first = await shelf.story("안녕", KO[0])
    second = await shelf.tell(first, "", KO[1])
    match = await place(shelf, [*told("안녕", f"{KO[0]}\n\n미나: {KO[1]}"), *user("더")])
    assert (match.parent, match.how, match.unknown) == (second, "reply", ())
    assert match.shown == {first, second}
    more = await place(shelf, [*told("안녕", f"{KO[0]}\n\n미나: {KO[1]} 그리고 운다."), *user("더")])
    assert more.how == "grown" and more.parent == "s1-root"


async def test_a_prefill_that_begins_like_a_reply_to_other_words_is_not_that_reply() -> None:
    shelf = Shelf()
    _, first, _ = await shelf.story("go", EN[0], "on", EN[1])
    begun = {"role": "assistant", "content": EN[1][:24]}
    assert (await place(shelf, [*told("go", EN[0]), *user("on"), begun])).how == "cut"
    stray = await place(shelf, [*told("go", EN[0]), *user("sing"), begun])
    assert (stray.parent, stray.how) == (first, "reply")


async def test_candidates_are_counted() -> None:
    shelf = Shelf()
    await shelf.story("go", KO[0])
    await shelf.tell("s1-root", "go", KO[0])
    matcher = shelf.matcher
    await matcher.match(read_transcript([*told("go", KO[0]), *user("next")]), owner="")
    assert matcher.examined == 2


def test_an_opening_is_the_greeting_and_the_first_words_whatever_comes_after() -> None:
    key = opening_key(first_request("어서 오세요.", "가자"))
    system = {"role": "system", "content": "Rules."}
    greeting = {"role": "assistant", "content": "*어서 오세요.*"}
    assert opening_key(read_transcript([system, greeting, *told("가자", "간다."), *user("더")])) == key
    assert opening_key(first_request("어서 오세요.", "멈추자")) != key
    assert opening_key(first_request("", "가자")) != key
    assert opening_key(first_request("어서 오세요.가자", "")) != key


@pytest.mark.parametrize(("known", "request_"), [(KO[0], "위 글의 분위기를 한 단어로:\n"), (EN[0], "Name its mood:\n")])
async def test_a_request_that_shows_a_known_reply_quotes_it(known: str, request_: str) -> None:
    shelf = Shelf()
    root, _ = await shelf.story("go", known)
    matcher = shelf.matcher
    assert await matcher.quotes(read_transcript(user(request_ + known)), "")
    assert not await matcher.quotes(read_transcript(user(request_ + known)), "mina")
    assert not await matcher.quotes(read_transcript(user(request_ + "another text that nobody ever told")), "")
    assert not await matcher.quotes(read_transcript([*told("go", known)]), ""), "no words of the player"
    aside = await shelf.tell(root, "", "A summary of all that happened until now.", kind=TurnKind.SIDE)
    assert aside and not await matcher.quotes(read_transcript(user("A summary of all that happened until now.")), "")


async def test_a_short_text_quotes_nothing() -> None:
    shelf = Shelf()
    await shelf.story("go", "Yes.")
    assert not await shelf.matcher.quotes(read_transcript(user("Translate:\nYes.")), "")


async def test_speakers_with_a_known_reply_are_characters() -> None:
    shelf = Shelf()
    await shelf.story("가자", KO[0])
    chat = read_transcript(user(f"Jun: 가자\nMina: {KO[0]}\nJun: 그래"))
    cast = await shelf.matcher.cast(chat, "")
    assert [(each.role, each.speaker) for each in cast.utterances] == [
        ("user", "Jun"),
        ("assistant", "Mina"),
        ("user", "Jun"),
    ]
    unknown = read_transcript(user("Jun: 가자\nMina: 모르는 말\nJun: 그래"))
    assert await shelf.matcher.cast(unknown, "") is unknown
