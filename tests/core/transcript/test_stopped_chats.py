"""Chats with one beginning, stopped at random: nothing of one chat is ever known in another.

A stopped reply is the same text in many chats, and at several places of one. What was recorded of it is what the client
shows, more than that, or nothing.
"""

from __future__ import annotations

import random

import pytest
from attrs import define, field

from saga_core import Saga
from tests.replay.sillytavern import Line, Messages, SillyTavern

CONFIG = {"storage": {"profile": "memory"}}

WORDS = ("I open the door.", "I look around.", "I take it.", "I go on.", "Yes.", "I wait and listen.")
BEGINNINGS = ("The corridor is long and dark, and the lamp", "You nod.", "She looks at you for a long while and then")


@define
class Chat:
    """A frontend's chat, and what is carried in it."""

    number: int
    log: list[tuple[str, str]] = field(factory=lambda: [("assistant", "Welcome to the house at the end of the lane.")])
    things: list[str] = field(factory=list)
    mode: str = "none"
    """The frontend's post-processing."""

    def messages(self, words: str) -> Messages:
        """The chat as the frontend sends it."""
        lines = [Line("Ysolde" if role == "assistant" else "Alex", text, role == "user") for role, text in self.log]
        lines.append(Line("Alex", words, player=True))
        return SillyTavern(mode=self.mode, char="Ysolde", user="Alex", system="Tell it.", lines=lines).turn()

    async def turn(self, saga: Saga, step: int, dice: random.Random) -> None:
        at = len(self.log) // 2
        words, beginning = WORDS[at % len(WORDS)], BEGINNINGS[at % len(BEGINNINGS)]
        begun = await saga.begin(self.messages(words), model="m")
        state = await saga.views.state(begun.session.id, begun.parent.id)
        carried = [state.name(item) for item in state.belongings.get(state.player, {})]
        assert sorted(carried) == sorted(self.things), (self.number, step)
        shown = f"{beginning} falls on {dice.random()} in room {step} of house {self.number}, and something gleams."
        block = f"```state\nlocation: Hall\nitems_gained: [thing {step}]\n```"
        reply = begun.replies[0]
        if dice.random() < 0.35:
            shown = shown[: dice.choice((12, 20, 40, 43, 55))]
            kept = dice.choice((0, len(shown), len(shown) + 30))
            if kept:
                reply.feed(f"{shown} falls on a chair in the corner of it."[:kept])
                await begun.commit(finish="aborted")
            else:
                await begun.abandon()
        else:
            reply.feed(f"{shown}\n\n{block}")
            await begun.commit()
            self.things.append(f"thing {step}")
        self.log += [("user", words), ("assistant", shown.strip())]


@pytest.mark.parametrize(
    ("seed", "chats"),
    [(seed, chats) for chats in (1, 2) for seed in range(4)]
    + [pytest.param(seed, chats, marks=pytest.mark.deep) for chats in (1, 2) for seed in range(4, 100)],
)
async def test_each_chat_knows_its_own_story(seed: int, chats: int) -> None:
    dice = random.Random(seed)
    async with Saga.open(CONFIG) as saga:
        playing = [Chat(number) for number in range(chats)]
        for step in range(24):
            await dice.choice(playing).turn(saga, step, dice)


@pytest.mark.parametrize("mode", ["strict", "single", "one"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(1, 40))])
async def test_so_it_does_however_a_frontend_sends_it(seed: int, mode: str) -> None:
    dice = random.Random(seed)
    async with Saga.open(CONFIG) as saga:
        playing = [Chat(number, mode=mode) for number in range(2)]
        for step in range(24):
            await dice.choice(playing).turn(saga, step, dice)


async def test_the_last_reply_and_new_words_are_history_enough() -> None:
    async with Saga.open(CONFIG) as saga:
        chat, dice = Chat(0), random.Random(1)
        for step in range(5):
            await chat.turn(saga, step, dice)
        whole = await saga.begin([{"role": role, "content": text} for role, text in (*chat.log, ("user", "Now?"))])
        await whole.abandon()
        last = [{"role": "assistant", "content": chat.log[-1][1]}, {"role": "user", "content": "Now?"}]
        begun = await saga.begin(last)
        assert (begun.session.id, begun.parent.id) == (whole.session.id, whole.parent.id)
        await begun.abandon()
