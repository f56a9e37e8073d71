"""Write a long play into a data directory, with the same data that as many turns of real play would leave.

The turns are written in batches, into the journal by ``Journal.append`` and into the stores by the projector, as in a
live session. Contexts are not read, because reading leaves no data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, define, evolve, field, frozen
from cattrs import structure

from saga_core import Saga
from saga_core.extraction import mention_event, read_delta
from saga_core.journal import TurnEntry
from saga_core.model import Delta, Turn, fold, node_of
from saga_core.projection import render_episode
from saga_core.sessions import LiveSession
from saga_core.state_block import read_reply
from saga_core.transcript import identity_key, opening_key, read_transcript, words_key
from saga_core.world import render_world
from tests.bench.story.cast import NAME, Cast, make_cast, make_world
from tests.bench.story.storyteller import Storyteller, Told

CONFIG = "saga.yaml"
_PLAY = "play.json"
_SYSTEM_WORDS = {"ko": 565, "en": 1_150}
"""Words of a system prompt of about 1,500 tokens, by language."""
_SHOWN = 20
_KEPT = 60
_BATCH = 256
_SWIPED = 10
"""Every tenth turn has a sibling, a reply that the player swiped away."""
_PACE = 90.0
_REVIEWING = 300.0
_START = 1_790_000_000.0


@frozen
class PlayOptions:
    """The options of a play."""

    turns: int
    entities: int = 200
    lore: int = 500
    profile: str = "lite"
    lang: str = "ko"
    seed: int = 1


@frozen
class Play:
    """A play in a folder, with the first and the last turns of its chat as a frontend keeps them."""

    folder: Path
    options: PlayOptions
    session: str
    system: str
    chat: tuple[tuple[str, str], ...]
    """The player's words and the reply of each of the last 60 turns."""
    opening: tuple[tuple[str, str], ...]
    """The same for the first 20 turns."""
    wishes: tuple[str, ...]
    """Words that the player could say next."""

    @property
    def config(self) -> Path:
        """The configuration to open the engine with."""
        return self.folder / CONFIG

    def messages(self, chat: Sequence[tuple[str, str]], words: str) -> list[dict[str, Any]]:
        """The messages of a request: the system prompt, the last 20 turns of ``chat`` and the player's ``words``."""
        shown = [
            {"role": role, "content": text}
            for turn in chat[-_SHOWN:]
            for role, text in zip(("user", "assistant"), turn, strict=True)
        ]
        return [{"role": "system", "content": self.system}, *shown, {"role": "user", "content": words}]

    def storyteller(self) -> Storyteller:
        """A storyteller that continues where the play ended."""
        options = self.options
        told = Storyteller(_cast(options), options.lang, options.turns, options.seed)
        for _ in range(options.turns):
            told.next()
        return told


def _cast(options: PlayOptions) -> Cast:
    return make_cast(options.lang, options.entities, options.lore, options.seed)


@define
class _Ticking:
    """A clock that the play advances."""

    at: float = _START

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.at

    def monotonic(self) -> float:
        """The same as ``now``. No durations are measured with this clock."""
        return self.at


@define
class _Counting:
    """Deterministic entropy, so that the same play always gets the same ids."""

    drawn: int = 0

    def token(self, size: int) -> bytes:
        """The next number, in ``size`` bytes."""
        self.drawn += 1
        return self.drawn.to_bytes(size)


def prepare(folder: Path, options: PlayOptions) -> None:
    """Write the world and the configuration."""
    world = folder / "worlds" / NAME
    world.mkdir(parents=True)
    for name, text in render_world(make_world(_cast(options), options.lang, options.lore, options.seed)).items():
        (world / name).write_text(text, encoding="utf-8")
    config = {
        "storage": {"profile": options.profile, "path": "data"},
        "session": {"default_world": NAME},
        "models": {"narration": "offline"},
        # On a busy machine, a source that misses the deadline would be missing from the figures.
        "recall": {"deadline_ms": 10_000},
    }
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML


async def write_play(folder: Path, options: PlayOptions) -> Play:
    """Write a play of ``options.turns`` turns into ``folder``, which must be empty, and close the engine."""
    prepare(folder, options)
    clock = _Ticking()
    teller = Storyteller(_cast(options), options.lang, options.turns, options.seed)
    async with Saga.open(folder / CONFIG, clock=clock, entropy=_Counting()) as saga:
        session = await saga.sessions.create(label=NAME)
        live = await saga.parts.live.get(session.id)
        saga.parts.projector.slots = 1  # batches are far apart in the tree, but they are one timeline
        writer = _Writer(saga, live, clock)
        chat: list[tuple[str, str]] = []
        for number in range(1, options.turns + 1):
            told = teller.next()
            chat.append((told.words, told.reply))
            await writer.take(told, teller.again() if number % _SWIPED == 0 else None)
        await writer.flush()
    play = Play(
        folder,
        options,
        session.id,
        teller.system_prompt(_SYSTEM_WORDS[options.lang]),
        tuple(chat[-_KEPT:]),
        tuple(chat[:_SHOWN]),
        tuple(teller.wish(number) for number in range(1_000)),
    )
    kept = asdict(play, filter=lambda attribute, _: attribute.name != "folder")
    (folder / _PLAY).write_text(json.dumps(kept), encoding="utf-8")
    return play


def read_play(folder: Path) -> Play:
    """The play that ``write_play`` left in ``folder``."""
    plain: Mapping[str, Any] = json.loads((folder / _PLAY).read_text(encoding="utf-8"))
    return Play(
        folder,
        structure(plain["options"], PlayOptions),
        plain["session"],
        plain["system"],
        _pairs(plain["chat"]),
        _pairs(plain["opening"]),
        tuple(plain["wishes"]),
    )


def _pairs(plain: Any) -> tuple[tuple[str, str], ...]:
    return tuple((words, reply) for words, reply in plain)


@define
class _Writer:
    """Collects turns, and writes them to the journal and the stores when a batch is full."""

    saga: Saga
    live: LiveSession
    clock: _Ticking
    _entries: list[TurnEntry] = field(factory=list)
    _opening: str = ""
    _head: str = ""

    async def take(self, told: Told, swiped: Told | None) -> None:
        """Add a turn below the head. ``swiped``, another reply to the same words, is added before it as a sibling."""
        parent = self._head or self.live.tree.root
        if not self._opening:
            self._opening = opening_key(read_transcript([{"role": "user", "content": told.words}]))
        if swiped is not None:
            await self._add(parent, told.words, swiped)
        self._head = await self._add(parent, told.words, told)
        if len(self._entries) >= _BATCH:
            await self.flush()

    async def _add(self, parent: str, words: str, told: Told) -> str:
        live, tree = self.live, self.live.tree
        self.clock.at += _PACE
        before = await live.state(parent)
        read = read_delta(read_reply(told.raw), before)
        named = live.lore.mentioned_in(f"{words}\n{told.reply}")
        delta: Delta = evolve(read, events=read.events + mention_event(named))
        turn = Turn(
            self.saga.parts.ids.new("t"),
            live.session.id,
            parent,
            tree.get(parent).depth + 1,
            self.clock.at,
            user=words,
            reply=told.reply,
            delta=delta,
            model=NAME,
            jump=tree.jump_for(parent),
        )
        state = fold(before, delta, turn=turn.id, depth=turn.depth)
        episode = render_episode(delta, state, turn.user, turn.reply, live.world.language)
        user_key = words_key(read_transcript([{"role": "user", "content": words}]).words)
        node = node_of(turn, user_key=user_key, reply_key=identity_key(turn.reply), episode=episode)
        live.record(turn, node, state)
        self._entries.append(TurnEntry(turn, user_key, episode))
        return turn.id

    async def flush(self) -> None:
        """Append the collected turns to the journal, and project them into the stores."""
        entries, self._entries = self._entries, []
        if not entries:
            return
        live = self.live
        live.session = await live.journal.append(live.session, entries, head=self._head, opening=self._opening)
        turns = [entry.turn.id for entry in entries]
        await self.saga.parts.projector.render(live, turns)
        await live.journal.finish_jobs(live.session.id, turns)
        # A curator reviews during the play. Otherwise all its reviews would run in the measurement.
        self.saga.background.reviews.kick(live.session.id)
        report = await self.saga.drain(_REVIEWING)
        if report.waiting:
            raise RuntimeError(f"background work did not end: {report.waiting}")
