"""The simulated frontend: random sends, swipes, edits, branches and restarts, against the pure model."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from saga_core import Saga
from saga_core.model.tree import TurnKind
from saga_core.play.pending_turn import PendingTurn
from saga_core.state_block import BlockFields, ItemAmount
from tests.blocks import render_block
from tests.model.story import Beat, Change, Chat, Line, settle, truth

PLACES = ("붉은 언덕", "소금 항구", "the glass mill", "the lower road", "달의 샘")
SHORT = ("응.", "OK.", "그래.", "Hm.")
CANNED = (
    "*길은 계속된다.* 아무 일도 일어나지 않는다. 그저 바람이 분다. 걸음은 가볍다.",
    "*The road goes on and on,* and nothing happens.",
)
KO = ("바람이 분다", "문이 열린다", "불빛이 흔들린다", "누군가 웃는다", "발소리가 멎는다", "물이 차오른다")
EN = ("the lamp gutters", "a door swings open", "somebody laughs", "the rain stops", "the floor gives way")

damage = st.integers(0, 40)
place = st.sampled_from(("", "", *PLACES))
same_again = st.sampled_from(((), (), (), (), (), (), SHORT, CANNED))
"""Texts that are said more than once in a story; most are said once."""
korean = st.booleans()
pick = st.integers(0, 10_000)

Mutation = Callable[[Saga], None]


class ChatMachine(RuleBasedStateMachine):
    """Every request must be answered on the state that the frontend's own history proves."""

    mutate: Mutation | None = None
    """Breaks the engine on purpose, to see that this test notices."""

    def __init__(self) -> None:
        super().__init__()
        self.chats: list[Chat] = []
        self.active = 0
        self.count = 0
        self.items: set[str] = set()
        self.opened = False

    def open(self) -> Saga:
        config = {
            "storage": {"profile": "lite", "path": str(Path(self.folder.name) / "data")},
            "session": {"checkpoint_every": 4, "live_timelines": 3},
            "prompt_caching": {"repin_every": 3},
        }

        async def opened() -> Saga:
            return await Saga.open(config)

        return self.runner.run(opened())

    def break_it(self) -> None:
        mutate = type(self).mutate
        if mutate is not None:
            mutate(self.saga)

    def teardown(self) -> None:
        if not self.opened:
            return
        self.runner.run(self.saga.aclose(drain=0))
        self.runner.close()
        self.folder.cleanup()

    # -- helpers

    @property
    def chat(self) -> Chat:
        return self.chats[self.active]

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def reply_text(self, is_korean: bool, texts: tuple[str, ...] = ()) -> str:
        number = self.fresh()
        rng = random.Random(number)
        if texts:
            return rng.choice(texts)
        words = rng.sample(KO if is_korean else EN, 4)
        mark = f"{number}번째 장면" if is_korean else f"scene {number}"
        return f"*{mark}.* " + ". ".join(words) + "."

    def provable(self) -> bool:
        """Whether the chat still proves where it stands: a reply as it was, or at least its first words.

        A stopped reply proves nothing against the replies above it, if some are shown that were hidden then.
        """
        seen = self.chat.visible()
        if any(line.under is not None and line.under < at for at, line in enumerate(seen)):
            return False
        if not seen or any(not line.edited for line in seen):
            return True
        return seen[0] is self.chat.lines[0] and seen[0].user == seen[0].beat.user

    def change(self, hurt: int, somewhere: str, with_item: bool) -> Change:
        item = f"열쇠{self.fresh():04d}" if with_item else ""
        self.items |= {item} - {""}
        return Change(hurt, item, somewhere)

    def expect(self, turn: PendingTurn, beat: Beat | None) -> None:
        """The turn was begun on what is true after ``beat``, and its prompt tells nothing of other paths."""
        wanted = truth(beat)
        assert turn.session.id, "a request that goes on with a chat belongs to a session"
        state = self.runner.run(self.saga.describe(turn.session.id, turn.parent.id))
        found = (state["hp"], frozenset(item["name"] for item in state["inventory"]), state["location"] or "")
        if found != (wanted.hp, wanted.items, wanted.place):
            note(f"the chat that was sent:\n{self.chat.readable()}")
            note(f"expected {wanted}, the engine stood at {state}")
        assert found == (wanted.hp, wanted.items, wanted.place)
        told = turn.context.text + "".join(str(block.content) for block in turn.plan.blocks if block.role == "system")
        ghosts = {item for item in self.items - wanted.items if item in told}
        assert not ghosts, f"{ghosts} never happened on this path\n{self.chat.readable()}"

    def request(
        self, words: str | None, reply: str, change: Change, *, stop: int | None = None, skip: int = 0, note_: str = ""
    ) -> PendingTurn:
        """Send the chat with ``words``; the model answers ``reply`` and reports ``change``."""

        async def play() -> PendingTurn:
            turn = await self.saga.begin(self.chat.messages(words, skip, note_))
            fields = BlockFields(
                hp_change=-change.damage if change.damage else None,
                items_gained=(ItemAmount(change.item),) if change.item else (),
                location=change.place or None,
            )
            if stop is None:
                whole = f"{reply}\n\n{render_block(fields)}"
                shown = (
                    "".join(turn.replies[0].feed(part) for part in (whole[:7], whole[7:])) + turn.replies[0].finish()
                )
                assert shown == reply
                await turn.commit()
            else:
                turn.replies[0].feed(reply[:stop])
                await turn.commit(finish="aborted")
            return turn

        return self.runner.run(play())

    # -- what a player does

    @initialize(is_korean=korean)
    def begin(self, is_korean: bool) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="saga-model-")
        self.saga = self.open()
        self.opened = True
        self.break_it()
        self.chats.append(Chat("밤이 깊다." if is_korean else "It is a long night."))

    @rule(hurt=damage, somewhere=place, with_item=st.booleans(), is_korean=korean, texts=same_again)
    def send(self, hurt: int, somewhere: str, with_item: bool, is_korean: bool, texts: tuple[str, ...]) -> None:
        if not self.provable():
            return
        words = f"{self.fresh()}: 앞으로 나아간다." if is_korean else f"{self.fresh()}: I go on."
        reply, change = self.reply_text(is_korean, texts), self.change(hurt, somewhere, with_item)
        beat = settle(self.chat.visible(), 0.8)
        self.expect(self.request(words, reply, change), beat)
        made = Beat(reply, words, change, beat)
        self.chat.lines.append(Line(words, made, reply, swipes=[made]))

    @precondition(lambda self: self.chat.lines and not self.chat.lines[-1].hidden)
    @rule(hurt=damage, with_item=st.booleans(), is_korean=korean)
    def swipe(self, hurt: int, with_item: bool, is_korean: bool) -> None:
        line = self.chat.lines.pop()
        if not self.provable():
            return
        reply, change = self.reply_text(is_korean), self.change(hurt, "", with_item)
        beat = settle(self.chat.visible(), 0.8)
        self.expect(self.request(line.user, reply, change), beat)
        made = Beat(reply, line.user, change, beat)
        same_parent = [swipe for swipe in line.swipes if swipe.parent is beat]
        self.chat.lines.append(Line(line.user, made, reply, swipes=[*same_parent, made]))

    @precondition(lambda self: self.chat.lines and len(self.chat.lines[-1].swipes) > 1)
    @rule(which=pick)
    def swipe_back(self, which: int) -> None:
        line = self.chat.lines[-1]
        line.beat = line.swipes[which % len(line.swipes)]
        line.text = line.beat.text

    @precondition(lambda self: self.chat.lines)
    @rule(which=pick, small=st.booleans())
    def edit_reply(self, which: int, small: bool) -> None:
        line = self.chat.lines[-1 - which % min(3, len(self.chat.lines))]
        if line.edited or len(line.text) < 40:
            return
        # Three letters for three. No two edits are the same, for the same text would prove the other's place.
        small_end = f"{chr(ord('가') + self.fresh())}~!"
        line.text = (
            line.text[:-3] + small_end if small else f"{self.fresh()}: 전혀 다른 이야기가 되었다. Nothing of it was so."
        )

    @precondition(lambda self: self.chat.lines)
    @rule(which=pick)
    def edit_words(self, which: int) -> None:
        line = self.chat.lines[which % len(self.chat.lines)]
        # Of a short text with other words before it nobody could say which turn it is.
        if not line.edited and len(line.text) > 40:
            line.user = f"{self.fresh()}: 고쳐 쓴 말이다."

    @precondition(lambda self: self.chat.lines)
    @rule(count=st.integers(1, 3))
    def delete_last(self, count: int) -> None:
        del self.chat.lines[-count:]

    @precondition(lambda self: self.chat.lines and len(self.chats) < 5)
    @rule(which=pick)
    def branch(self, which: int) -> None:
        self.chats.append(self.chat.copy(1 + which % len(self.chat.lines)))
        self.active = len(self.chats) - 1

    @precondition(lambda self: len(self.chats) > 1)
    @rule(which=pick)
    def open_another_chat(self, which: int) -> None:
        self.active = which % len(self.chats)

    @precondition(lambda self: len(self.chats) < 5)
    @rule()
    def new_chat(self) -> None:
        self.chats.append(Chat(self.chats[0].greeting))
        self.active = len(self.chats) - 1

    @precondition(lambda self: len(self.chat.lines) > 2)
    @rule(which=pick)
    def hide_or_show(self, which: int) -> None:
        line = self.chat.lines[which % (len(self.chat.lines) - 1)]
        line.hidden = not line.hidden

    @precondition(lambda self: len(self.chat.visible()) > 3)
    @rule(skip=st.integers(1, 3), hurt=damage)
    def send_truncated(self, skip: int, hurt: int) -> None:
        seen = self.chat.visible()[skip:]
        if seen[-1].text in (*SHORT, *CANNED) or len(seen[-1].text) < 40 or seen[-1].edited:
            return
        words, reply, change = f"{self.fresh()}: 계속 간다.", self.reply_text(True), Change(hurt)
        beat = seen[-1].beat
        self.expect(self.request(words, reply, change, skip=skip), beat)
        made = Beat(reply, words, change, beat)
        self.chat.lines.append(Line(words, made, reply, swipes=[made]))

    @precondition(lambda self: self.chat.visible() and not self.chat.lines[-1].hidden)
    @rule(hurt=damage, spaced=st.booleans())
    def go_on(self, hurt: int, spaced: bool) -> None:
        """Continue: the reply grows, and stays one turn."""
        line = self.chat.lines[-1]
        if line.edited or len(line.text) < 40:
            return
        more, change = self.reply_text(True), Change(hurt)
        turn = self.request(None, more, change, note_="[Continue the following message. Do not repeat it.]")
        assert turn.kind is TurnKind.CONTINUATION
        self.expect(turn, line.beat)
        whole = line.text + (" " if spaced else "\n\n") + more
        hp = Change(line.beat.change.damage + hurt, line.beat.change.item, line.beat.change.place)
        line.beat = Beat(whole, line.user, hp, line.beat.parent, line.text)
        line.text = whole
        line.swipes = [line.beat]

    @rule(kept=st.integers(24, 34))
    def stop_in_the_middle(self, kept: int) -> None:
        """The reply is cut before its block; the chat keeps even less than was sent."""
        if not self.provable():
            return
        words, reply = f"{self.fresh()}: 달려간다.", self.reply_text(True)
        beat = settle(self.chat.visible(), 0.8)
        self.expect(self.request(words, reply, Change(), stop=kept + 3), beat)
        text = reply[:kept]
        made = Beat(text, words, Change(), beat)
        under = len(self.chat.visible())
        self.chat.lines.append(Line(words, made, text, swipes=[made], under=under))

    @precondition(lambda self: self.chat.visible())
    @rule(hurt=damage)
    def ask_aside(self, hurt: int) -> None:
        """A quiet prompt: whatever its answer reports, nothing changes."""
        if not self.provable():
            return
        beat = settle(self.chat.visible(), 0.8)
        turn = self.request(None, self.reply_text(True), Change(hurt), note_="Summarize the story so far.")
        assert turn.kind is TurnKind.SIDE
        self.expect(turn, beat)

    @rule(in_peace=st.booleans())
    def restart(self, in_peace: bool) -> None:
        self.runner.run(self.saga.aclose(drain=5 if in_peace else 0))
        self.saga = self.open()
        self.break_it()

    @invariant()
    def stores_follow_the_journal(self) -> None:
        if not self.opened or self.count % 5:
            return

        async def check() -> list[str]:
            await self.saga.drain(10)
            found: list[str] = []
            for summary in await self.saga.sessions.list():
                found += await self.saga.maintenance.differences(summary.session.id)
            return found

        differences = self.runner.run(check())
        assert not differences, "\n".join(differences)


def machine(mutation: Mutation | None = None) -> type[ChatMachine]:
    """The machine, with an engine that is broken on purpose or not."""
    return type("ChatMachine", (ChatMachine,), {"mutate": staticmethod(mutation) if mutation else None})
