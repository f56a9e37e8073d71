"""A world that is shared, and chats in it, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, evolve

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.model import WorldState
from saga_core.play import PendingTurn
from saga_core.state_block import ItemTransfer, StatusChange
from saga_core.trackers import Tracker
from tests.core.frontend import Frontend, answer

PEOPLE = "## Kesh\n- location: Harbour\n- items: lamp\n\n## Tobin\n- location: Mill\n\n## Dana\n- location: Mill\n"
PLACES = "## Harbour\n- type: location\n- layer: A1\n\n## Mill\n- type: location\n- layer: A1\n"


def shared_config(folder: Path, shared: str = "[places, people, things, clock]", **sections: Any) -> Config:
    """A configuration in whose folder lies the world ``low-weir``, which shares this."""
    world = folder / "worlds" / "low-weir"
    world.mkdir(parents=True, exist_ok=True)
    front = f"language: en\nshared: {shared}\n" if shared else "language: en\n"
    (world / "WORLD.md").write_text(f"---\n{front}---\n# Low Weir\n", encoding="utf-8")
    (world / "CHARACTERS.md").write_text(PEOPLE, encoding="utf-8")
    (world / "LOREBOOK.md").write_text(PLACES, encoding="utf-8")
    given: dict[str, Any] = {
        "storage": {"profile": "memory"},
        "session": {"default_world": "low-weir"},
        **sections,
    }
    return evolve(load_config(given), base=folder)


@define
class Player:
    """A player's chat in the shared world. Replies are numbered, so that each is unlike the others."""

    name: str
    chat: Frontend
    kind: str = "world"
    said: int = 0

    async def begin(self, words: str = "", trackers: Sequence[Tracker] = ()) -> PendingTurn:
        """Send the next request."""
        self.said += 1
        text = words or f"{self.name} goes on for the {self.said}. time."
        return await self.chat.begin(text, kind=self.kind, player=self.name, trackers=trackers)

    async def say(self, trackers: Sequence[Tracker] = (), **fields: Any) -> PendingTurn:
        """One turn whose block has these fields."""
        turn = await self.begin(trackers=trackers)
        reply = f"What {self.name} meets in part {self.said} of the tale is unlike anything told before, {self.said}."
        shown = await answer(turn, reply, **{"present": (), **fields})
        words = f"{self.name} goes on for the {self.said}. time."
        self.chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]
        return turn

    async def status(self, who: str, status: str) -> PendingTurn:
        """One turn in which somebody's status changes."""
        return await self.say(status_changes=(StatusChange(who, status),))

    async def give(self, giver: str, receiver: str, item: str) -> PendingTurn:
        """One turn in which somebody gives something to somebody."""
        return await self.say(items_transferred=(ItemTransfer(item, giver, receiver, 1),))

    def back(self, turns: int) -> None:
        """Go back: the chat shows that many turns less."""
        if turns:
            del self.chat.history[-2 * turns :]


def player(saga: Saga, name: str, **options: Any) -> Player:
    """A player with a chat of the player's own."""
    return Player(
        name, Frontend(saga, f"{name} comes to the low weir by night.", "You tell of the weir.", ""), **options
    )


async def state_at(saga: Saga, turn: PendingTurn) -> WorldState:
    """What is true where a request begins, with what it sees of the world."""
    live = await saga.parts.live.get(turn.session.id)
    return await live.state(turn.id)


def status_of(state: WorldState, who: str) -> Any:
    """The status of a person."""
    return next(each.get("status") for each in state.entities.values() if each.name == who)


def held_by(state: WorldState, who: str) -> Mapping[str, int]:
    """What a person has, by name."""
    owner = next((each.id for each in state.entities.values() if each.name == who), "")
    return {state.name(item): stack.quantity for item, stack in state.belongings.get(owner, {}).items()}


def place_of(state: WorldState, who: str) -> str:
    """Where a person is."""
    id_ = next(each.id for each in state.entities.values() if each.name == who)
    return state.name(state.whereabouts[id_].place)
