"""The shapes in which frontends send a chat: each finds the turn that it continues, and is read as what it asks for.

``test_recorded_client.py`` has the requests of a real client; these cases have the same shapes, and those of others,
in words of our own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from attrs import define, frozen

from saga_core import Saga
from saga_core.messages import flatten
from saga_core.model.tree import TurnKind
from saga_core.play.pending_turn import PendingTurn
from saga_core.state_block import BlockFields
from tests.blocks import render_block

Messages = list[dict[str, Any]]
NARRATION, CONTINUATION, SIDE = TurnKind.NARRATION, TurnKind.CONTINUATION, TurnKind.SIDE
OUTSIDE = -1
"""The parent of a request that belongs to no story."""


@frozen
class Tale:
    """A chat of two turns, and what the player says next."""

    system: str
    greeting: str
    lines: tuple[tuple[str, str], ...]
    next: str
    char: str
    user: str


KO = Tale(
    "당신은 소금 항구의 이야기꾼이다.",
    "*등불이 흔들린다.* 무슨 일로 오셨소?",
    (
        (
            "나는 강길로 왔소.",
            "문지기는 장부를 펼치고 *천천히* 이름을 적는다. “통행세는 은화 두 닢이오.” 빗소리가 굵어진다.",
        ),
        (
            "은화 두 닢을 낸다.",
            "동전이 나무 그릇에 떨어진다. 문지기가 빗장을 들어 올리고 옆으로 비켜선다. 길은 어둡다.",
        ),
    ),
    "문을 지나 안으로 들어간다.",
    "문지기",
    "리안",
)
EN = Tale(
    "You are the narrator of the glass mill.",
    '*The lamp gutters.* "State your business."',
    (
        (
            "I came by the river road.",
            '*She opens the ledger.* "Then you owe the toll, like anybody else." Rain taps on the roof.',
        ),
        (
            "I pay the toll.",
            "Two coins rattle into the wooden bowl. The keeper lifts the bar and steps aside, still watching.",
        ),
    ),
    "I walk through the gate.",
    "Mera",
    "Alex",
)
TALES = {"ko": KO, "en": EN}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def assistant(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def plain(tale: Tale, words: str | None = None, count: int = 2) -> Messages:
    """The first ``count`` turns in the usual shape, and ``words``."""
    chat = [system(tale.system), assistant(tale.greeting)]
    for said, reply in tale.lines[:count]:
        chat += [user(said), assistant(reply)]
    return chat + ([user(words)] if words is not None else [])


def wrap(name: str, text: str) -> str:
    return f"<{name}'s Message>\n{text}\n</{name}'s Message>"


def spoken(tale: Tale, form: Callable[[str, str], str], words: str) -> list[str]:
    """Every utterance of the chat in a ``form`` that says who speaks."""
    chat = [form(tale.char, tale.greeting)]
    for said, reply in tale.lines:
        chat += [form(tale.user, said), form(tale.char, reply)]
    return [*chat, form(tale.user, words)]


def by_role(tale: Tale) -> Callable[[str, str], str]:
    return lambda name, text: f"{'user' if name == tale.user else 'assistant'}: {text}"


def named(name: str, text: str) -> str:
    return f"{name}: {text}"


@frozen
class Case:
    """A request after two turns, the turn that it continues, and how it is read."""

    messages: Callable[[Tale], Messages]
    parent: int
    kind: TurnKind = NARRATION


LORE = "The brass key opens the flooded archive. 놋쇠 열쇠는 잠긴 서고를 연다."
NUDGE = "[Continue the last response]"
SUMMARY = "[Pause your roleplay. Summarize the most important facts of the chat so far.]"
IMPERSONATE = "[Write your next reply from the point of view of Alex, using the chat history so far as a guideline.]"
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
HAPPY = [user('"Good morning! Is there anything I can do for you today?"'), assistant("happy")]

CASES: dict[str, Case] = {
    "the next turn": Case(lambda t: plain(t, t.next), 2),
    "a note after the words": Case(lambda t: [*plain(t, t.next), system("Keep it short.")], 2),
    "no system message": Case(lambda t: plain(t, t.next)[1:], 2),
    "another system prompt": Case(lambda t: [system("It is 04:17. A 6 was rolled."), *plain(t, t.next)[1:]], 2),
    "system messages in mid-history": Case(
        lambda t: [*plain(t)[:3], system(LORE), *plain(t)[3:5], system("note"), *plain(t)[5:], user(t.next)], 2
    ),
    "a reroll": Case(lambda t: plain(t, t.lines[1][0], 1), 1),
    "a reroll of the first reply": Case(lambda t: plain(t, t.lines[0][0], 0), 0),
    "a branch": Case(lambda t: plain(t, "Something else. 다른 말.", 1), 1),
    "the first turn hidden": Case(lambda t: [*plain(t)[:2], *plain(t)[4:], user(t.next)], 2),
    "the oldest messages cut off": Case(lambda t: [plain(t)[0], *plain(t)[4:], user(t.next)], 2),
    "words edited long ago": Case(
        lambda t: [*plain(t)[:2], user("Other words. 고친 말."), *plain(t)[3:], user(t.next)], 2
    ),
    "a reply edited long ago": Case(
        lambda t: [*plain(t)[:3], assistant("Another reply. 고친 답."), *plain(t)[4:], user(t.next)], 2
    ),
    "several messages of the player": Case(lambda t: [*plain(t, t.next), user("And wait. 그리고 기다린다.")], 2),
    "nothing said": Case(lambda t: plain(t, "*says nothing*"), 2),
    "names in the name field": Case(
        lambda t: [{**m, "name": t.char if m["role"] == "assistant" else t.user} for m in plain(t, t.next)], 2
    ),
    "names before the texts": Case(
        lambda t: [
            m
            if m["role"] == "system"
            else {**m, "content": f"{t.char if m['role'] == 'assistant' else t.user}: {m['content']}"}
            for m in plain(t, t.next)
        ],
        2,
    ),
    "emphasis and quotation marks changed": Case(
        lambda t: [{**m, "content": m["content"].translate(str.maketrans("“”", '""', "*"))} for m in plain(t, t.next)],
        2,
    ),
    "content in parts": Case(
        lambda t: [{**m, "content": [{"type": "text", "text": m["content"]}]} for m in plain(t, t.next)], 2
    ),
    "a picture": Case(lambda t: [*plain(t), user("", content=[{"type": "text", "text": t.next}, PICTURE])], 2),
    "squashed system messages": Case(
        lambda t: [system(f"{t.system}\n{LORE}"), *plain(t, t.next)[1:], system("a\nb\nc")], 2
    ),
    # strict role orders: no system role, neighbours of one role merged
    "strict: the system prompt is the first message of the user": Case(
        lambda t: [user(t.system), *plain(t)[1:], user(f"{t.next}\n\nKeep it short.")], 2
    ),
    "strict: system prompt, greeting and first words in one message": Case(
        lambda t: [user(f"{t.system}\n\n{t.greeting}\n\n{t.lines[0][0]}"), *plain(t, t.next)[3:]], 2
    ),
    "strict: a blank message of the user in front": Case(lambda t: [user(" "), *plain(t, t.next)[1:]], 2),
    "strict: lore as a message of the user": Case(lambda t: [*plain(t, t.next), user(f"system: {LORE}")], 2),
    "lore after the chat": Case(lambda t: [*plain(t, t.next), system(LORE)], 2),
    # continue
    "continue, by a system message": Case(lambda t: [*plain(t), system(NUDGE)], 2, CONTINUATION),
    "continue, by a message of the user": Case(lambda t: [*plain(t), user(NUDGE)], 2, CONTINUATION),
    "continue, by a system message as the user's": Case(
        lambda t: [*plain(t), user(f"system: {NUDGE}")], 2, CONTINUATION
    ),
    "continue, with lore behind": Case(lambda t: [*plain(t), system(NUDGE), system(LORE)], 2, CONTINUATION),
    "continue, in Korean": Case(lambda t: [*plain(t), system("[마지막 응답을 이어서 작성하시오.]")], 2, CONTINUATION),
    "continue, quoting": Case(
        lambda t: [*plain(t), system(f"[Your last message is unfinished: {t.lines[1][1]}]")], 2, CONTINUATION
    ),
    "continue, by prefill": Case(lambda t: plain(t), 2, CONTINUATION),
    "a prefill": Case(lambda t: [*plain(t, t.next), assistant("Certainly. Here is what happens next:")], 2),
    "a prefill behind a note": Case(
        lambda t: [*plain(t, t.next), system("note"), assistant("물론이죠. 다음 장면입니다:")], 2
    ),
    "a prefill, rerolled": Case(lambda t: [*plain(t, t.lines[1][0], 1), assistant("Certainly. Here goes:")], 1),
    # the whole chat in other roles
    "each message as a system message": Case(
        lambda t: [system(t.system), *map(system, spoken(t, by_role(t), t.next)), system("note")], 2
    ),
    "the whole chat as one system message": Case(
        lambda t: [system("\n\n".join([t.system, *spoken(t, by_role(t), t.next)])), user(" ")], 2
    ),
    "the whole chat as one system message, wrapped": Case(
        lambda t: [system("\n\n".join([t.system, *spoken(t, wrap, t.next)]))], 2
    ),
    "the whole chat as one message of the user, wrapped": Case(
        lambda t: [system(t.system), user("\n".join(spoken(t, wrap, t.next)))], 2
    ),
    "the whole chat as one message of the user, wrapped, with the prompt": Case(
        lambda t: [user("\n".join([t.system, *spoken(t, wrap, t.next), "Write the next reply."]))], 2
    ),
    "the whole chat in one marked message, wrapped, and who is next": Case(
        lambda t: [
            user(
                "\n".join(
                    [f"system: {t.system}", *spoken(t, wrap, t.next)[:-1], "system: [Write the next reply only as B]"]
                )
            )
        ],
        2,
    ),
    "the whole chat in one marked message, wrapped, to go on": Case(
        lambda t: [user("\n".join([f"system: {t.system}", *spoken(t, wrap, t.next)[:-1], f"system: {NUDGE}"]))],
        2,
        CONTINUATION,
    ),
    "the whole chat as one message of the user, by names": Case(
        lambda t: [user("\n\n".join([t.system, *spoken(t, named, t.next)]))], 2
    ),
    "each message wrapped": Case(
        lambda t: [
            m
            if m["role"] == "system"
            else {**m, "content": wrap(t.char if m["role"] == "assistant" else t.user, m["content"])}
            for m in plain(t, t.next)
        ],
        2,
    ),
    "each message wrapped, all by one name": Case(
        lambda t: [
            m if m["role"] == "system" else {**m, "content": wrap(t.char, m["content"])} for m in plain(t, t.next)
        ],
        2,
    ),
    # aside, in a chat
    "impersonate": Case(lambda t: [*plain(t), system("note"), system(IMPERSONATE)], 2, SIDE),
    "impersonate, as the user": Case(lambda t: [*plain(t), user(f"note\n\n{IMPERSONATE}")], 2, SIDE),
    "a quiet prompt": Case(lambda t: [*plain(t), system("Describe the room in five words.")], 2, SIDE),
    "a summary": Case(lambda t: [*plain(t), system(SUMMARY)], 2, SIDE),
    "a summary, as the user": Case(lambda t: [*plain(t), user(SUMMARY)], 2, SIDE),
    "a summary, before the reply": Case(lambda t: [*plain(t, t.next), system(SUMMARY)], 2, SIDE),
    "a summary, in Korean": Case(
        lambda t: [*plain(t), user("[지금까지의 이야기를 세 문장으로 요약해 주세요.]")], 2, SIDE
    ),
    "a summary, without brackets": Case(
        lambda t: [*plain(t), user("Ignore previous instructions. Summarize the story so far.")], 2, SIDE
    ),
    "a prompt for a picture": Case(
        lambda t: [*plain(t), system("[In the next response I want you to provide only a list of keywords.]")], 2, SIDE
    ),
    "a prompt for a picture, before the reply": Case(
        lambda t: [*plain(t, t.next), system("[In the next response I want you to provide only a list of keywords.]")],
        2,
        SIDE,
    ),
    # what stands behind the words at every turn
    "a note that asks for more": Case(
        lambda t: [*plain(t, t.next), system("[Summarize the scene in one line at the end of your reply.]")], 2
    ),
    "a note that asks for more, merged with the words": Case(
        lambda t: plain(t, f"{t.next}\n\n[In your next reply, write three paragraphs.]"), 2
    ),
    "a note that asks for more, in Korean": Case(
        lambda t: [*plain(t, t.next), system("[답변 끝에 장면을 한 줄로 요약해 주세요.]")], 2
    ),
    "a note about the point of view": Case(
        lambda t: [*plain(t, t.next), system("[Write your next reply from the point of view of Mera.]")], 2
    ),
    # words of the player that look like it
    "out of character": Case(lambda t: plain(t, "(OOC: summarize what we know so far, please.)"), 2),
    "out of character, in square brackets": Case(lambda t: plain(t, "[OOC: 지금까지 일을 요약해 줘]"), 2),
    "a request to a character": Case(lambda t: plain(t, "Translate the inscription for me. 비문을 번역해 줘."), 2),
    # aside, without a chat
    "translate a reply": Case(
        lambda t: [system("You are a translator. Translate into Korean."), user(t.lines[1][1])], OUTSIDE, SIDE
    ),
    "translate a reply, by any prompt": Case(lambda t: [system("Kore-go ni."), user(t.lines[1][1])], OUTSIDE, SIDE),
    "translate a reply, in one message": Case(
        lambda t: [user(f"Auf Deutsch, bitte:\n\n{t.lines[1][1]}")], OUTSIDE, SIDE
    ),
    "the mood of a reply": Case(
        lambda t: [system("From the list below, choose a word.\n\nlist: joy, anger"), user(t.lines[1][1])],
        OUTSIDE,
        SIDE,
    ),
    "the mood of a reply, with an example": Case(
        lambda t: [system("기분을 한 단어로 고른다: joy, anger"), *HAPPY, user(t.lines[1][1])], OUTSIDE, SIDE
    ),
    "a title": Case(lambda t: [user(f"Generate a short title for this chat:\n{t.lines[0][0]}\n…")], OUTSIDE, SIDE),
    "a title, in Korean": Case(lambda t: [user(f"이 대화의 제목을 지어줘.\n{t.lines[0][0]} …")], OUTSIDE, SIDE),
    "a summary of a text": Case(lambda t: [user("Summarize: it rained, and the gate was shut.")], OUTSIDE, SIDE),
    "a summary of a text, in Korean": Case(
        lambda t: [user("다음 글을 요약해 줘:\n비가 왔고 문은 닫혔다.")], OUTSIDE, SIDE
    ),
    "a summary of the chat as one text": Case(
        lambda t: [
            user("\n\n".join(f"{m['role']}: {m['content']}" for m in plain(t)[1:])),
            system("[Summarize the ongoing role story. Remove what is redundant.]"),
        ],
        2,
        SIDE,
    ),
    "a summary of a chat that nobody knows": Case(
        lambda t: [user("Ann: Hello.\n\nBob: Hello, Ann."), system("[Summarize the ongoing role story.]")],
        OUTSIDE,
        SIDE,
    ),
    "a translation of a text": Case(
        lambda t: [system("Be exact."), user("Translate the following text into English: 비가 온다.")], OUTSIDE, SIDE
    ),
}


@define
class Story:
    """A tale of which two turns were played."""

    saga: Saga
    tale: Tale
    turns: list[PendingTurn]

    async def send(self, messages: Messages, **options: Any) -> PendingTurn:
        return await self.saga.begin(messages, **options)

    def parent(self, turn: PendingTurn) -> int:
        """Which turn it continues: 0 the beginning, OUTSIDE none of any story."""
        if not turn.session.id:
            return OUTSIDE
        assert turn.session.id == self.turns[0].session.id
        return 0 if turn.parent.kind is TurnKind.ROOT else [each.id for each in self.turns].index(turn.parent.id) + 1


async def answer(turn: PendingTurn, reply: str, **fields: Any) -> None:
    """The model says ``reply``, and reports ``fields``."""
    turn.replies[0].feed(reply + (f"\n\n{render_block(BlockFields(**fields))}" if fields else ""))
    await turn.commit()


async def hit_points(saga: Saga, turn: PendingTurn) -> int:
    """The player's hit points at the turn that ``turn`` continues."""
    found: int = (await saga.describe(turn.session.id, turn.parent.id))["hp"]
    return found


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open({"storage": {"profile": "memory"}}) as opened:
        yield opened


@pytest.fixture(params=TALES)
async def story(saga: Saga, request: pytest.FixtureRequest) -> Story:
    tale = TALES[request.param]
    turns = []
    for count, (words, reply) in enumerate(tale.lines):
        turn = await saga.begin(plain(tale, words, count))
        await answer(turn, reply, hp_change=-10)
        turns.append(turn)
    return Story(saga, tale, turns)


@pytest.mark.parametrize(
    ("case", "story"),
    [
        # Each shape is tried in one language in every run, and in the other in the long searches.
        pytest.param(case, tale, marks=() if at % 2 == number % 2 else pytest.mark.deep, id=f"{name}-{tale}")
        for number, (name, case) in enumerate(CASES.items())
        for at, tale in enumerate(TALES)
    ],
    indirect=["story"],
)
async def test_a_shape_finds_its_parent(story: Story, case: Case) -> None:
    messages = case.messages(story.tale)
    turn = await story.send(messages)
    assert (story.parent(turn), turn.kind) == (case.parent, case.kind)
    sent = turn.plan.to_openai()
    texts = [flatten(message["content"]) for message in sent]
    if case.kind is SIDE:
        assert sent == messages, "a side request goes out as it came"
        assert not turn.context.text
    else:
        assert any("```state" in text for text in texts)
        assert turn.context.text or not case.parent, "before the first turn there may be nothing to tell"
        assert any(turn.context.text in text for text in texts)
        assert await hit_points(story.saga, turn) == 100 - 10 * case.parent
    await answer(turn, "Whatever is answered here. 여기에 무엇이라고 답하든 그렇다.")
    assert len(await story.saga.sessions.list()) == 1


@pytest.mark.parametrize("form", [by_role, lambda _: wrap], ids=["by role", "wrapped"])
async def test_a_chat_sent_as_one_message_from_the_beginning(saga: Saga, form: Any) -> None:
    def one(count: int, words: str) -> Messages:
        tale = Tale(KO.system, KO.greeting, KO.lines[:count], "", KO.char, KO.user)
        return [system("\n\n".join([KO.system, *spoken(tale, form(KO), words)]))]

    first = await saga.begin(one(0, KO.lines[0][0]))
    await answer(first, KO.lines[0][1], hp_change=-10)
    second = await saga.begin(one(1, KO.lines[1][0]))
    await answer(second, KO.lines[1][1], hp_change=-10)
    third = await saga.begin(one(2, KO.next))
    assert [second.parent.id, third.parent.id] == [first.id, second.id]
    assert (await saga.sessions.get(first.session.id)).id == third.session.id
    assert second.parent.user == KO.lines[0][0]
    again = await saga.begin(one(0, KO.lines[0][0]))
    assert again.parent.kind is TurnKind.ROOT and again.session.id == first.session.id


class TestMoves:
    """What players do to a chat between two requests."""

    async def test_swiping_back(self, story: Story) -> None:
        tale, first = story.tale, story.turns[1]
        again = await story.send(plain(tale, tale.lines[1][0], 1))
        await answer(again, "Nothing happens for a long while. 오랫동안 아무 일도 일어나지 않는다.", hp_change=-60)
        assert again.parent.id == first.parent.id
        back = await story.send(plain(tale, tale.next))
        assert (back.parent.id, await hit_points(story.saga, back)) == (first.id, 80)

    async def test_deleting_the_last_turn(self, story: Story) -> None:
        turn = await story.send(plain(story.tale, "I turn back. 돌아선다.", 1))
        assert (turn.parent.id, await hit_points(story.saga, turn)) == (story.turns[0].id, 90)

    async def test_deleting_the_last_reply_and_sending_nothing(self, story: Story) -> None:
        turn = await story.send(plain(story.tale, story.tale.lines[1][0], 1))
        assert (turn.parent.id, turn.kind) == (story.turns[0].id, NARRATION)

    async def test_a_stopped_reply_counts_as_far_as_it_was_kept(self, story: Story) -> None:
        tale, reply = story.tale, "The yard is empty. 마당은 비어 있다. Somewhere a door bangs, again and again."
        turn = await story.send(plain(tale, tale.next))
        turn.replies[0].feed(reply[:60])
        await turn.commit(finish="aborted")
        after = await story.send([*plain(tale, tale.next), assistant(reply[:40]), user("Hello?")])
        assert (after.parent.reply, after.parent.depth) == (reply[:40], 3)
        assert await hit_points(story.saga, after) == 80

    async def test_each_of_several_choices_can_be_kept(self, story: Story) -> None:
        tale = story.tale
        turn = await story.send(plain(tale, tale.next), choices=2)
        texts = ["One way it goes like this. 이렇게 되기도 한다.", "Another way it goes like that. 저렇게 되기도 한다."]
        for reply, text in zip(turn.replies, texts, strict=True):
            reply.feed(text)
        made = await turn.commit()
        for text, one in zip(texts, made, strict=True):
            after = await story.send([*plain(tale, tale.next), assistant(text), user("And then?")])
            assert after.parent.id == one.id

    async def test_a_new_chat_with_the_same_first_words_is_a_sibling(self, story: Story) -> None:
        turn = await story.send(plain(story.tale, story.tale.lines[0][0], 0))
        assert (story.parent(turn), await hit_points(story.saga, turn)) == (0, 100)

    async def test_another_greeting_is_another_story(self, story: Story) -> None:
        tale = story.tale
        turn = await story.send([system(tale.system), assistant("Fog. 안개."), user(tale.lines[0][0])])
        assert turn.session.id != story.turns[0].session.id
        assert await hit_points(story.saga, turn) == 100

    async def test_two_frontends_with_one_key_share_the_chat(self, story: Story) -> None:
        tale = story.tale
        elsewhere = [system("Another frontend's prompt."), *plain(tale, tale.next)[1:]]
        turn = await story.send(elsewhere)
        assert story.parent(turn) == 2
        foreign = await story.send(elsewhere, owner="another key")
        assert foreign.session.id != turn.session.id

    async def test_switched_on_in_the_middle(self, saga: Saga) -> None:
        turn = await saga.begin(plain(EN, EN.next))
        assert (turn.parent.depth, turn.parent.kind, turn.parent.reply) == (2, TurnKind.ADOPTED, EN.lines[1][1])
        again = await saga.begin(plain(EN, EN.next))
        assert again.parent.id == turn.parent.id


class TestGroups:
    """Several speakers, one request for each."""

    ONE = "Tamsin looks up from her nets. The harbour is quiet tonight, she says, too quiet."
    TWO = "Ysolde shakes her head. It has been quiet since the salt ships stopped coming in."
    ASKED = "Good evening, both of you."

    async def played(self, saga: Saga) -> tuple[PendingTurn, PendingTurn]:
        first = await saga.begin([*self.chat(), system("[Write the next reply only as Tamsin.]")])
        await answer(first, self.ONE, hp_change=-10)
        second = await saga.begin([*self.chat(self.ONE), system("[Write the next reply only as Ysolde.]")])
        assert (second.parent.id, second.kind) == (first.id, NARRATION)
        await answer(second, self.TWO, hp_change=-10)
        return first, second

    def chat(self, *replies: str) -> Messages:
        names = ("Tamsin", "Ysolde")
        told = [assistant(f"{name}: {reply}") for name, reply in zip(names, replies, strict=False)]
        return [system("A group chat."), assistant("Tamsin: Hm."), assistant("Ysolde: Hm?"), user(self.ASKED), *told]

    async def test_each_reply_is_a_turn(self, saga: Saga) -> None:
        _, second = await self.played(saga)
        turn = await saga.begin([*self.chat(self.ONE, self.TWO), user("And the archive?")])
        assert (turn.parent.id, turn.parent.depth, turn.kind) == (second.id, 2, NARRATION)

    @pytest.mark.parametrize("names", [True, False], ids=["names", "no names"])
    async def test_replies_merged_into_one_message(self, saga: Saga, names: bool) -> None:
        _, second = await self.played(saga)
        told = [f"Tamsin: {self.ONE}", f"Ysolde: {self.TWO}"] if names else [self.ONE, self.TWO]
        turn = await saga.begin([*self.chat(), assistant("\n\n".join(told)), user("And the archive?")])
        assert (turn.parent.id, await hit_points(saga, turn)) == (second.id, 80)

    async def test_the_nudge_merged_with_the_words(self, saga: Saga) -> None:
        _, second = await self.played(saga)
        words = "And the archive?\n\n[Write the next reply only as Tamsin.]\n\nKeep it short."
        turn = await saga.begin([*self.chat(self.ONE, self.TWO)[1:], user(words)])
        assert (turn.parent.id, turn.kind) == (second.id, NARRATION)
        await answer(turn, "Nobody has gone down there since the flood, Tamsin says at last.")
        assert (await saga.views.turns(turn.session.id))[-1].user == "And the archive?"

    async def test_replies_of_others_in_the_role_of_the_user(self, saga: Saga) -> None:
        asked, one = user(wrap("Unknown", self.ASKED)), user(wrap("Tamsin", self.ONE))
        nudge = system("[Write the next reply only as Ysolde]")
        first = await saga.begin([system("A group chat."), asked])
        await answer(first, self.ONE, hp_change=-10)
        second = await saga.begin([system("A group chat."), asked, one, nudge])
        assert (second.parent.id, second.kind) == (first.id, NARRATION)
        await answer(second, self.TWO, hp_change=-10)
        chat = [system("A group chat."), asked, one, assistant(self.TWO), user(wrap("Unknown", "And the archive?"))]
        turn = await saga.begin(chat)
        assert (turn.parent.id, await hit_points(saga, turn)) == (second.id, 80)

    async def test_a_member_speaks_unasked(self, saga: Saga) -> None:
        _, second = await self.played(saga)
        turn = await saga.begin([*self.chat(self.ONE, self.TWO), system("[Write the next reply only as Tamsin.]")])
        assert (turn.parent.id, turn.kind) == (second.id, NARRATION)


class TestPrefills:
    """Words that the client puts into the mouth of the reply."""

    PREFILL = "Certainly. This is what happens:"
    REPLY = "The gate swings shut behind you, and something in the dark begins to move."

    @pytest.mark.parametrize("kept", [REPLY, f"{PREFILL} {REPLY}"], ids=["left out", "kept"])
    async def test_the_reply_keeps_its_changes(self, story: Story, kept: str) -> None:
        tale = story.tale
        turn = await story.send([*plain(tale, tale.next), assistant(self.PREFILL)])
        await answer(turn, self.REPLY, hp_change=-30)
        after = await story.send([*plain(tale, tale.next), assistant(kept), user("I turn around.")])
        assert (after.parent.depth, await hit_points(story.saga, after)) == (3, 50)
        again = await story.send(
            [*plain(tale, tale.next), assistant(kept), user("I turn around."), assistant(self.PREFILL)]
        )
        assert (again.parent.id, again.kind) == (after.parent.id, NARRATION)

    async def test_a_stopped_reply_goes_on(self, story: Story) -> None:
        tale = story.tale
        turn = await story.send(plain(tale, tale.next))
        turn.replies[0].feed(self.REPLY)
        await turn.commit(finish="aborted")
        kept = self.REPLY[:50]
        again = await story.send([*plain(tale, tale.next), assistant(kept)])
        assert (again.parent.reply, again.parent.depth, again.kind) == (kept, 3, CONTINUATION)

    async def test_an_edited_reply_goes_on_with_its_changes(self, story: Story) -> None:
        tale = story.tale
        turn = await story.send(plain(tale, tale.next))
        await answer(turn, self.REPLY, hp_change=-30)
        edited = self.REPLY.replace("something", "somebody")
        again = await story.send([*plain(tale, tale.next), assistant(edited)])
        assert (again.parent.reply, again.kind) == (edited, CONTINUATION)
        assert await hit_points(story.saga, again) == 50

    async def test_a_chat_that_begins_with_one(self, saga: Saga) -> None:
        turn = await saga.begin([*plain(EN, EN.lines[0][0], 0), assistant(self.PREFILL)])
        assert (turn.parent.kind, turn.kind) == (TurnKind.ROOT, NARRATION)
        await answer(turn, EN.lines[0][1], hp_change=-10)
        after = await saga.begin(plain(EN, EN.lines[1][0], 1))
        assert (after.parent.id, await hit_points(saga, after)) == (turn.id, 90)


class TestContinues:
    """What a continuation becomes."""

    MORE = "Behind it a stair goes down, wet and worn, and cold air comes up from below."

    @pytest.mark.parametrize("role", [system, user], ids=["system", "user"])
    async def test_one_turn_with_the_changes_of_both(self, story: Story, role: Any) -> None:
        tale = story.tale
        turn = await story.send([*plain(tale), role(NUDGE)])
        await answer(turn, self.MORE, hp_change=-30)
        whole = f"{tale.lines[1][1]}\n\n{self.MORE}"
        after = await story.send([*plain(tale)[:-1], assistant(whole), user(tale.next)])
        assert (after.parent.depth, await hit_points(story.saga, after)) == (2, 50)

    async def test_or_two_if_it_was_the_player_who_asked(self, story: Story) -> None:
        tale = story.tale
        turn = await story.send([*plain(tale), user(NUDGE)])
        await answer(turn, self.MORE, hp_change=-30)
        after = await story.send([*plain(tale), user(NUDGE), assistant(self.MORE), user(tale.next)])
        assert (after.parent.depth, await hit_points(story.saga, after)) == (3, 50)
        assert after.parent.user == NUDGE


class TestAsides:
    """A wrong guess costs one turn's memory, never the state."""

    async def test_an_answer_that_stays_in_the_chat_is_a_turn(self, story: Story) -> None:
        tale, told = story.tale, "So far: a toll was paid, and a gate was opened. Nothing else happened."
        turn = await story.send([*plain(tale), user(SUMMARY)])
        await answer(turn, told)
        after = await story.send([*plain(tale), user(SUMMARY), assistant(told), user(tale.next)])
        assert (after.parent.depth, await hit_points(story.saga, after)) == (3, 80)

    async def test_a_first_turn_that_looks_like_a_task(self, saga: Saga) -> None:
        words, reply = (
            "Translate this for me, stranger.",
            "The stranger squints at the scroll and begins to read aloud.",
        )
        first = await saga.begin([user(words)])
        assert (first.kind, first.session.id) == (SIDE, "")
        await answer(first, reply)
        second = await saga.begin([user(words), assistant(reply), user("What does it say?")])
        assert (second.parent.reply, second.kind) == (reply, NARRATION)

    async def test_such_words_after_a_greeting_are_the_players(self, saga: Saga) -> None:
        turn = await saga.begin([system("card"), assistant(EN.greeting), user("Translate this for me, keeper.")])
        assert (turn.kind, turn.parent.kind) == (NARRATION, TurnKind.ROOT)

    async def test_words_that_impersonating_wrote(self, saga: Saga) -> None:
        line = "I push the hood back, and let the rain run down my face for a while."
        aside = await saga.begin([*plain(EN, None, 0), system(IMPERSONATE)])
        await answer(aside, line)
        turn = await saga.begin(plain(EN, line, 0))
        assert (aside.kind, turn.kind, turn.parent.kind) == (SIDE, NARRATION, TurnKind.ROOT)

    async def test_a_named_session_is_left_alone(self, story: Story) -> None:
        session = story.turns[0].session.id
        turn = await story.send([user("Summarize: nothing.")], session=session)
        await answer(turn, "Nothing at all happened, as far as anybody can tell.")
        assert turn.kind is SIDE
        assert len((await story.saga.views.tree(session))["nodes"]) == 3


async def test_a_short_reply_that_many_chats_know_loads_few_of_them(saga: Saga) -> None:
    def chat(number: int, *told: str) -> Messages:
        lines = [user(f"{number}: I ask about the road."), *(assistant(each) for each in told)]
        return [system("card"), assistant(f"Greeting {number}."), *lines]

    turns = []
    for number in range(12):
        turns.append(await saga.begin(chat(number)))
        await answer(turns[-1], "Yes.", hp_change=-number)
    await saga.drain(10)
    for session in await saga.sessions.list():
        saga.parts.live.forget(session.session.id)
    loaded = saga.counters.counts["sessions.loaded"]
    late = await saga.begin([*chat(11, "Yes."), user("Then I go.")])
    assert late.parent.id == turns[11].id
    assert saga.counters.counts["sessions.loaded"] - loaded <= 8
    early = await saga.begin([*chat(0, "Yes."), user("Then I go.")])
    assert early.parent.id == turns[0].id, "found by greeting and first words, and the reply is there"
