"""A play on paper: turns with their state blocks, folded as the engine folds them, and shown to a curator."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from attrs import define, field, frozen

from saga_core.extraction.writer import read_delta
from saga_core.model.deltas import Event
from saga_core.model.folding import fold
from saga_core.model.tree import Delta, Turn
from saga_core.model.world_state import WorldState
from saga_core.state_block import BlockStatus, StateReading, parse_block
from saga_core.stores.curator import CurationView
from saga_core.world.library import WorldLibrary, default_roots
from saga_core.world.model import World
from saga_core.world.opening import opening_state


@cache
def world(name: str) -> World:
    return WorldLibrary(default_roots(Path.cwd())).get(name)


@frozen
class Told:
    """One turn as told: the player's words, the reply, and what its state block says."""

    user: str
    reply: str
    block: str = "notes: null"


@define
class Stage:
    """A path of turns in a world."""

    name: str
    turns: list[Turn] = field(factory=list)
    states: list[WorldState] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.states = [opening_state(world(self.name), "t0")]

    @property
    def state(self) -> WorldState:
        return self.states[-1]

    def tell(self, told: Told) -> Turn:
        parsed = parse_block(told.block, own=self.state.trackers)
        assert parsed.status is BlockStatus.OK and not parsed.problems, (told.block, parsed.problems)
        return self.add(told.user, told.reply, read_delta(StateReading("", parsed.status, parsed.fields), self.state))

    def events(self, *events: Event) -> Turn:
        return self.add("", "", Delta(events))

    def add(self, user: str, reply: str, delta: Delta) -> Turn:
        depth = len(self.turns) + 1
        turn = Turn(f"t{depth}", "s", f"t{depth - 1}", depth, float(depth), user, reply, delta)
        self.turns.append(turn)
        self.states.append(fold(self.state, delta, turn=turn.id, depth=depth))
        return turn

    def view(self, since: int = 0) -> CurationView:
        language = world(self.name).language
        return CurationView("s", self.state, tuple(self.turns[since:]), since, self.states[since], language)


def view_of(name: str, *told: Told, since: int = 0) -> CurationView:
    """The view of a whole play."""
    stage = Stage(name)
    for each in told:
        stage.tell(each)
    return stage.view(since)
