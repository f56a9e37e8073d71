"""Two or three players in one world, who swipe, go back and are served by one server after another.

What is right follows from one list: the changes in the order in which their turns were proved. Every change has a value
of its own, so a value tells where it is from.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define, field
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from saga_backends.memory import MemoryState
from saga_core import Saga
from saga_core.errors import StoreError, StoreUnavailable
from saga_core.model import WorldState
from saga_core.stores import Batch, Key
from tests.core.sessions.shared import Player, player, shared_config, state_at, status_of

WHO = ("Kesh", "Tobin")
NAMES = ("Rin", "Ivo", "Sol")


class Mortal(MemoryState):
    """A journal whose process dies at a commit, before or after it is durable. Nothing can be written from then on."""

    left: int | None = None
    durable = False

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left == 0 and self.durable:
                await super().commit(batch, expected=expected)
            if self.left <= 0:
                raise StoreUnavailable("the process is dead")
        await super().commit(batch, expected=expected)


@define
class Played:
    """A turn as the test knows it."""

    id: str
    player: str
    session: str
    above: Played | None
    change: tuple[str, str] | None
    statuses: dict[str, Any] = field(factory=dict)
    """What was true at it when it was recorded."""
    proved: bool = False

    def path(self) -> list[Played]:
        """It and the turns above it."""
        return [self] if self.above is None else [self, *self.above.path()]


class SharingMachine(RuleBasedStateMachine):
    """Nothing that was proved is lost, nothing else is seen, and no past changes."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.config = shared_config(Path(self.folder.name))
        self.state = Mortal()
        self.saga = self.open()
        self.players: dict[str, Player] = {}
        self.heads: dict[str, Played | None] = {}
        self.turns: list[Played] = []
        self.published: list[Played] = []
        """The turns with a change, in the order in which they were proved."""
        self.values = 0

    def serving(self, name: str) -> Saga:
        """The server that a player's requests go to."""
        return self.saga

    def open(self) -> Saga:
        async def opened() -> Saga:
            return await Saga.open(self.config, stores={"state": self.state})

        return self.runner.run(opened())

    def close(self, drain: float = 5) -> None:
        self.runner.run(self.saga.aclose(drain=drain))

    def teardown(self) -> None:
        self.close()
        self.runner.close()
        self.folder.cleanup()

    @initialize(many=st.integers(2, 3), alone=st.booleans())
    def begin(self, many: int, alone: bool) -> None:
        for name in NAMES[:many]:
            self.players[name] = player(self.serving(name), name)
            self.heads[name] = None
        if alone:
            self.players["Ada"] = player(self.serving("Ada"), "Ada", kind="personal")
            self.heads["Ada"] = None

    @rule(at=st.integers(0, 3), who=st.sampled_from(WHO), changes=st.booleans())
    def play(self, at: int, who: str, changes: bool) -> None:
        """One turn of somebody, which proves the turn above it."""
        name = sorted(self.players)[at % len(self.players)]
        self.take_turn(name, who, changes)

    @precondition(lambda self: any(self.heads.values()))
    @rule(at=st.integers(0, 3), who=st.sampled_from(WHO))
    def swipe(self, at: int, who: str) -> None:
        """Another reply to the last words."""
        played = sorted(name for name, head in self.heads.items() if head is not None)
        name = played[at % len(played)]
        head = self.heads[name]
        assert head is not None
        self.players[name].back(1)
        self.heads[name] = head.above
        self.take_turn(name, who, True)

    @precondition(lambda self: any(self.heads.values()))
    @rule(at=st.integers(0, 3), turns=st.integers(1, 4))
    def back(self, at: int, turns: int) -> None:
        """The chat is cut. Nothing is sent yet."""
        name = sorted(self.players)[at % len(self.players)]
        for _ in range(turns):
            head = self.heads[name]
            if head is None or head.above is None:  # the first turn stays, so that the chat keeps its session
                return
            self.players[name].back(1)
            self.heads[name] = head.above

    @rule()
    def reopen(self) -> None:
        """The server ends, and another one begins with the same journal."""
        self.close(5 if self.state.left is None else 0)
        self.state.left = None
        self.saga = self.open()
        for each in self.players.values():
            each.chat.saga = self.serving(each.name)

    @rule(at=st.integers(0, 3), who=st.sampled_from(WHO), commits=st.integers(1, 3), durable=st.booleans())
    def die(self, at: int, who: str, commits: int, durable: bool) -> None:
        """The server dies in a turn. If the turn is lost, the player sends the request again."""
        name = sorted(self.players)[at % len(self.players)]
        self.state.left, self.state.durable = commits, durable
        lost = False
        try:
            self.take_turn(name, who, True)
        except StoreError:
            lost = True
        self.reopen()
        if lost:
            self.take_turn(name, who, True)

    def take_turn(self, name: str, who: str, changes: bool) -> None:
        above, someone = self.heads[name], self.players[name]
        shared = someone.kind == "world"
        if above is not None and not above.proved:
            above.proved = True
            if shared and above.change is not None:
                self.published.append(above)
        change = None
        if changes:
            self.values += 1
            change = who, f"marked {self.values}"
        turn = self.runner.run(someone.status(*change) if change is not None else someone.say())
        if not turn.session.id:  # the session could not be begun, and the turn was played without memory
            someone.back(1)
            raise StoreUnavailable("the turn is lost")
        state = self.runner.run(state_at(someone.chat.saga, turn))
        found = {each: status_of(state, each) for each in WHO}
        wanted = self.expected(turn.session.id, above, shared)
        if change is not None:
            wanted[change[0]] = change[1]
        assert found == wanted, (name, found, wanted)
        self.heads[name] = Played(turn.id, name, turn.session.id, above, change, found)
        self.turns.append(self.heads[name])  # type: ignore[arg-type]

    def expected(self, session: str, above: Played | None, shared: bool) -> dict[str, Any]:
        """What is true where a turn begins: of each person the last word of another, or of the turns above."""
        path = above.path() if above is not None else []
        found: dict[str, Any] = dict.fromkeys(WHO, "alive")
        if not shared:
            for each in reversed(path):
                found |= dict([each.change]) if each.change is not None else {}
            return found
        above_ids = {each.id for each in path}
        for each in self.published:
            if each.session != session or each.id in above_ids:
                assert each.change is not None
                found[each.change[0]] = each.change[1]
        return found

    @invariant()
    def no_past_changes(self) -> None:
        """A turn is as it was, read from the journal."""
        for each in self.turns[-1:] + self.turns[:: max(1, len(self.turns) // 3)]:
            assert {who: status_of(self.cold(each), who) for who in WHO} == each.statuses

    @invariant()
    def nothing_is_published_twice(self) -> None:
        """Each change is one fact of one publication, and the numbers have no gap."""
        rows = self.runner.run(self.saga.stores.state.scan(("share",)))
        assert [int(key[2]) for key, _ in rows] == list(range(1, len(rows) + 1))
        marked = b"".join(raw for _, raw in rows).count(b'"value":"marked ')
        assert marked == len(self.published)

    def cold(self, turn: Played) -> WorldState:
        async def read() -> WorldState:
            live = await self.serving(turn.player).parts.live.get(turn.session)
            live._states.clear()
            return await live.state(turn.id)

        return self.runner.run(read())
