"""What a frontend's post-processing makes of a chat changes nothing: place, kind and changes stay the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from saga_core import Saga
from saga_core.model.tree import TurnKind
from saga_core.play.pending_turn import PendingTurn
from tests.replay.sillytavern import MODES, ONE_MESSAGE, Line, Messages, SillyTavern
from tests.replay.test_client_shapes import EN, TALES, Tale, answer, hit_points

AFTER = ("", "Keep the reply under 120 words. Never speak for the player.")
OPENING = {
    "en": "Write {char}'s next reply in a fictional chat between {char} and {user}.",
    "ko": "{char} 역을 맡는다.",
}
MORE = "Behind it a stair goes down, wet and worn, and cold air comes up from below."


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open({"storage": {"profile": "memory"}}) as opened:
        yield opened


def chat_of(tale: Tale, mode: str, after: str = "") -> SillyTavern:
    head = OPENING["en" if tale is EN else "ko"].format(char=tale.char, user=tale.user)
    chat = SillyTavern(mode=mode, char=tale.char, user=tale.user, system=f"{head}\n{tale.system}", after=after)
    chat.lines = [Line(tale.char, tale.greeting)]
    return chat


async def told(saga: Saga, chat: SillyTavern, words: str, reply: str, speaker: str = "", loss: int = 10) -> PendingTurn:
    """A turn: the player's ``words``, if any, and a reply that costs ten hit points."""
    if words:
        chat.lines.append(Line(chat.user, words, player=True))
    turn = await saga.begin(chat.turn(speaker))
    assert turn.kind is TurnKind.NARRATION
    await answer(turn, reply, hp_change=-loss)
    chat.lines.append(Line(speaker or chat.char, reply))
    return turn


async def played(
    saga: Saga, tale: Tale, mode: str, after: str, count: int = 2
) -> tuple[SillyTavern, list[PendingTurn]]:
    chat = chat_of(tale, mode, after)
    return chat, [await told(saga, chat, *line) for line in tale.lines[:count]]


def _soon(mode: str, after: str) -> Any:
    """Each kind of post-processing meets one of the two in every run, and the other one in the long searches."""
    return () if MODES.index(mode) % 2 == AFTER.index(after) else pytest.mark.deep


def every(test: Callable[..., Any]) -> Any:
    """For each kind of post-processing: without post-history instructions in English, with them in Korean."""
    given = [
        pytest.param(name, mode, after, marks=_soon(mode, after), id=f"{mode}-{name}")
        for mode in MODES
        for name, after in zip(("en", "ko"), AFTER, strict=True)
    ]
    return pytest.mark.parametrize(("name", "mode", "after"), given)(test)


def each(test: Callable[..., Any]) -> Any:
    """The same in one language, for groups."""
    given = [
        pytest.param(mode, after, marks=_soon(mode, after), id=f"{mode}-{named}")
        for mode in MODES
        for after, named in zip(AFTER, ("plain", "after"), strict=True)
    ]
    return pytest.mark.parametrize(("mode", "after"), given)(test)


async def proved(saga: Saga, turn: PendingTurn, parent: str, hp: int, kind: TurnKind) -> None:
    assert (turn.kind, turn.parent.id, await hit_points(saga, turn)) == (kind, parent, hp)


@every
async def test_turns(saga: Saga, name: str, mode: str, after: str) -> None:
    tale = TALES[name]
    chat, turns = await played(saga, tale, mode, after)
    assert [turns[1].parent.id, turns[1].session.id] == [turns[0].id, turns[0].session.id]
    again = await saga.begin([*chat.turn()])
    chat.lines.append(Line(tale.user, tale.next, player=True))
    turn = await saga.begin(chat.turn())
    await proved(saga, turn, turns[1].id, 80, TurnKind.NARRATION)
    assert turn.session.id == turns[0].session.id
    assert again.parent.id == turns[1].id


@every
async def test_a_swipe(saga: Saga, name: str, mode: str, after: str) -> None:
    chat, turns = await played(saga, TALES[name], mode, after)
    kept = chat.lines.pop()
    swiped = await saga.begin(chat.turn())
    await proved(saga, swiped, turns[0].id, 90, TurnKind.NARRATION)
    await answer(swiped, "Nothing happens for a long while. 오랫동안 아무 일도 일어나지 않는다.", hp_change=-60)
    chat.lines += [kept, Line(chat.user, TALES[name].next, player=True)]
    await proved(saga, await saga.begin(chat.turn()), turns[1].id, 80, TurnKind.NARRATION)


@every
@pytest.mark.parametrize("form", ["nudge", "quoting", "prefill", "korean"])
@pytest.mark.parametrize("count", [1, 2], ids=["first", "later"])
async def test_a_reply_goes_on(saga: Saga, name: str, mode: str, after: str, form: str, count: int) -> None:
    if form == "prefill" and mode in ONE_MESSAGE:
        pytest.skip("one message of the user cannot end with a reply")
    chat, turns = await played(saga, TALES[name], mode, after, count)
    asked = {
        "nudge": chat.go_on,
        "prefill": lambda: chat.go_on(prefill=True),
        "quoting": lambda: chat.go_on(nudge=f"[Continue the following message: {chat.lines[-1].text}]"),
        "korean": lambda: chat.go_on(nudge="[마지막 응답을 이어서 작성하시오.]"),
    }[form]
    turn = await saga.begin(asked())
    await proved(saga, turn, turns[-1].id, 100 - 10 * count, TurnKind.CONTINUATION)
    assert f"{100 - 10 * count}" in turn.context.text, "what is told is true after the reply that goes on"
    await answer(turn, MORE, hp_change=-30)
    chat.lines[-1].text = f"{chat.lines[-1].text} {MORE}"
    again = await saga.begin(asked())
    assert (again.kind, await hit_points(saga, again)) == (TurnKind.CONTINUATION, 70 - 10 * count)
    chat.lines.append(Line(chat.user, TALES[name].next, player=True))
    after_it = await saga.begin(chat.turn())
    assert (after_it.parent.depth, await hit_points(saga, after_it)) == (turns[-1].parent.depth + 1, 70 - 10 * count)
    assert MORE in after_it.parent.reply and NUDGED not in after_it.parent.reply


NUDGED = "[Continue"


@every
@pytest.mark.parametrize("prefill", [False, True], ids=["nudge", "prefill"])
async def test_a_stopped_reply_goes_on(saga: Saga, name: str, mode: str, after: str, prefill: bool) -> None:
    if prefill and mode in ONE_MESSAGE:
        pytest.skip("one message of the user cannot end with a reply")
    tale = TALES[name]
    chat, _ = await played(saga, tale, mode, after, 1)
    chat.lines.append(Line(tale.user, tale.lines[1][0], player=True))
    turn = await saga.begin(chat.turn())
    turn.replies[0].feed(tale.lines[1][1])
    await turn.commit(finish="aborted")
    chat.lines.append(Line(tale.char, tale.lines[1][1][:40].rstrip()))
    on = await saga.begin(chat.go_on(prefill=prefill))
    kept = chat.lines[-1].text
    assert (on.kind, on.parent.reply.rstrip(), await hit_points(saga, on)) == (TurnKind.CONTINUATION, kept, 90)


DRAFT = "```state\nhp_change: -50\nitems_gained: [paper crown]\n```"
THOUGHT = (
    f"The keeper is tired.\n\nAlex: would she pay? A blue heron stands in the reeds.\n\n{DRAFT}\n\nLet me write it."
)


@every
@pytest.mark.parametrize("sent", [True, False], ids=["sent back", "folded away"])
@pytest.mark.parametrize("form", ["turn", "nudge", "prefill"])
async def test_what_the_model_thought(saga: Saga, name: str, mode: str, after: str, sent: bool, form: str) -> None:
    if form == "prefill" and mode in ONE_MESSAGE:
        pytest.skip("one message of the user cannot end with a reply")
    tale, turns = TALES[name], []
    chat = chat_of(tale, mode, after)
    chat.thoughts = sent
    for words, reply in tale.lines:
        chat.lines.append(Line(tale.user, words, player=True))
        turns.append(await saga.begin(chat.turn()))
        await answer(turns[-1], f"<think>\n{THOUGHT}\n</think>\n\n{reply}", hp_change=-10)
        chat.lines.append(Line(tale.char, reply, thoughts=THOUGHT))
    if form == "turn":
        chat.lines.append(Line(tale.user, tale.next, player=True))
        turn = await saga.begin(chat.turn())
        await proved(saga, turn, turns[1].id, 80, TurnKind.NARRATION)
    else:
        turn = await saga.begin(chat.go_on(prefill=form == "prefill"))
        await proved(saga, turn, turns[1].id, 80, TurnKind.CONTINUATION)
    assert turn.parent.reply == tale.lines[1][1]
    await saga.drain(10)
    found = await saga.views.state(turn.session.id, turn.parent.id)
    assert not found.belongings.get(found.player)
    assert "heron" not in turn.context.text and "crown" not in turn.context.text


Ask = Callable[[SillyTavern, str], Messages]
ASIDES: dict[str, Ask] = {
    "impersonation": lambda chat, _: chat.impersonate(),
    "summary": lambda chat, speaker: chat.quiet(
        "Ignore previous instructions. Summarize the most important facts and events in the story so far.", speaker
    ),
    "picture": lambda chat, speaker: chat.quiet(
        "[Pause your roleplay and describe the scene as a list of keywords.]", speaker
    ),
    "instruction": lambda chat, speaker: chat.quiet(
        "Name three things that lie on the table, and nothing else.", speaker
    ),
}


@every
@pytest.mark.parametrize("ask", ASIDES.values(), ids=ASIDES)
async def test_an_aside(saga: Saga, name: str, mode: str, after: str, ask: Ask) -> None:
    chat, turns = await played(saga, TALES[name], mode, after)
    messages = ask(chat, "")
    turn = await saga.begin(messages)
    if ask is ASIDES["instruction"] and mode in ("semi", "strict"):
        # In the role of the player, without any mark: these may be her words.
        assert turn.kind is TurnKind.NARRATION
    else:
        assert (turn.kind, turn.context.text, turn.plan.to_openai()) == (TurnKind.SIDE, "", messages)
    await answer(turn, "A table, a lamp and a ledger, wet from the rain outside.", hp_change=-50)
    chat.lines.append(Line(chat.user, TALES[name].next, player=True))
    await proved(saga, await saga.begin(chat.turn()), turns[1].id, 80, TurnKind.NARRATION)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in ONE_MESSAGE])
@pytest.mark.parametrize("told", ["tool", "user"])
async def test_a_turn_with_a_tool(saga: Saga, mode: str, told: str) -> None:
    """The modes with tools leave calls and results where they are; those without make the user's words of a result."""
    chat, (turn,) = await played(saga, EN, mode, AFTER[1], 1)
    call = {"id": "call_1", "type": "function", "function": {"name": "roll", "arguments": "{}"}}
    steps: Messages = [{"role": "tool", "tool_call_id": "call_1", "content": "17"}]
    steps = [{"role": "assistant", "content": None, "tool_calls": [call]}, *steps] if told == "tool" else []

    def with_steps(messages: Messages, reply: str) -> Messages:
        """What was called for the turn that ``reply`` ends stands before it."""
        at = next((at for at, message in enumerate(messages) if reply and reply in message["content"]), len(messages))
        if told == "tool":
            return [*messages[:at], *steps, *messages[at:]]
        changed = [dict(message) for message in messages]
        changed[at - 1]["content"] += "\n\n17"
        return changed

    chat.lines.append(Line(chat.user, EN.lines[1][0], player=True))
    final = await saga.begin(with_steps(chat.turn(), ""), tools=told == "tool")
    await proved(saga, final, turn.id, 90, TurnKind.NARRATION)
    await answer(final, EN.lines[1][1], hp_change=-10)
    chat.lines += [Line(chat.char, EN.lines[1][1]), Line(chat.user, EN.next, player=True)]
    following = await saga.begin(with_steps(chat.turn(), EN.lines[1][1]))
    await proved(saga, following, final.id, 80, TurnKind.NARRATION)


class TestGroups:
    """Two members; the nudge stands before the post-history instructions."""

    ONE = "Tamsin looks up from her nets. The harbour is quiet tonight, she says, too quiet."
    TWO = "Ysolde shakes her head. It has been quiet since the salt ships stopped coming in."

    async def both(self, saga: Saga, mode: str, after: str) -> tuple[SillyTavern, list[PendingTurn]]:
        chat = SillyTavern(mode=mode, char="Tamsin", user="Alex", system="A group chat.", after=after, group=True)
        chat.lines = [Line("Tamsin", "Hm."), Line("Ysolde", "Hm?")]
        one = await told(saga, chat, "Good evening, both of you.", self.ONE, "Tamsin")
        two = await told(saga, chat, "", self.TWO, "Ysolde")
        return chat, [one, two]

    @each
    async def test_each_members_changes_count(self, saga: Saga, mode: str, after: str) -> None:
        chat, (one, two) = await self.both(saga, mode, after)
        assert two.parent.id == one.id
        chat.lines.append(Line("Alex", "And the archive?", player=True))
        await proved(saga, await saga.begin(chat.turn("Tamsin")), two.id, 80, TurnKind.NARRATION)

    @each
    async def test_a_member_goes_on(self, saga: Saga, mode: str, after: str) -> None:
        chat, (_, two) = await self.both(saga, mode, after)
        on = await saga.begin(chat.go_on(speaker="Ysolde"))
        await proved(saga, on, two.id, 80, TurnKind.CONTINUATION)

    @each
    async def test_a_member_goes_on_by_prefill(self, saga: Saga, mode: str, after: str) -> None:
        if mode in ONE_MESSAGE:
            pytest.skip("one message of the user cannot end with a reply")
        chat, (_, two) = await self.both(saga, mode, after)
        on = await saga.begin(chat.go_on(prefill=True, speaker="Ysolde"))
        await proved(saga, on, two.id, 80, TurnKind.CONTINUATION)

    @each
    async def test_a_member_is_swiped(self, saga: Saga, mode: str, after: str) -> None:
        chat, (one, two) = await self.both(saga, mode, after)
        kept = chat.lines.pop()
        swiped = await saga.begin(chat.turn("Ysolde"))
        await proved(saga, swiped, one.id, 90, TurnKind.NARRATION)
        await answer(swiped, "Ysolde says nothing at all, and goes on mending the net beside her.", hp_change=-60)
        chat.lines += [kept, Line("Alex", "And the archive?", player=True)]
        await proved(saga, await saga.begin(chat.turn("Tamsin")), two.id, 80, TurnKind.NARRATION)

    @each
    @pytest.mark.parametrize("ask", ASIDES.values(), ids=ASIDES)
    async def test_an_aside(self, saga: Saga, mode: str, after: str, ask: Ask) -> None:
        chat, (_, two) = await self.both(saga, mode, after)
        turn = await saga.begin(ask(chat, "Ysolde"))
        assert (turn.kind, turn.context.text) == (TurnKind.SIDE, "")
        await answer(turn, "A table, a lamp and a ledger, wet from the rain outside.", hp_change=-50)
        chat.lines.append(Line("Alex", "And the archive?", player=True))
        await proved(saga, await saga.begin(chat.turn("Tamsin")), two.id, 80, TurnKind.NARRATION)
