"""Sessions over a real journal, in memory, in a small world; turns are recorded with the events that they bring."""

from __future__ import annotations

from attrs import define, field

from saga_backends.memory import MemoryState
from saga_core.background import SessionLocks
from saga_core.counters import Counters
from saga_core.ids import IdSource
from saga_core.journal import Journal, TurnEntry
from saga_core.model import Delta, Event, ReportStatus, Turn, TurnKind, fold, node_of
from saga_core.sessions import LiveSession, LiveSessions, SessionDirectory
from saga_core.transcript import identity_key
from saga_core.world import CharacterSheet, LoreEntry, World
from tests.bench.cache.play import PlayClock

WORLD = World(
    "ersia",
    "에르시아",
    characters=(CharacterSheet("아리아", player=True, hp=100, max_hp=100, location="광장"), CharacterSheet("Ergen")),
    lore=(LoreEntry("광장", "location", "A1", text="우물이 있다."), LoreEntry("숲", "location", "A1", text="어둡다.")),
)


@define
class Stage:
    """A directory of sessions, and what stands behind it."""

    journal: Journal = field(factory=lambda: Journal(MemoryState()))
    counters: Counters = field(factory=Counters)
    clock: PlayClock = field(factory=PlayClock)
    locks: SessionLocks = field(factory=SessionLocks)
    busy: set[str] = field(factory=set)
    rendered: list[tuple[str, tuple[str, ...]]] = field(factory=list)
    limit: int = 64
    checkpoint_every: int = 4
    live: LiveSessions = field(init=False)
    directory: SessionDirectory = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Nothing is in memory any more."""
        busy = self.busy.__contains__
        self.live = LiveSessions(self.journal, self.counters, busy, self.checkpoint_every, self.limit)
        self.directory = SessionDirectory(
            journal=self.journal,
            live=self.live,
            locks=self.locks,
            ids=IdSource(self.clock),
            clock=self.clock,
            counters=self.counters,
            render=lambda session, turns: self.rendered.append((session, tuple(turns))),
        )

    async def begin(
        self, label: str = "", owner: str = "", world: World = WORLD, greeting: str = "어서 오세요."
    ) -> LiveSession:
        """A session."""
        return await self.directory.begin(world, owner=owner, label=label, greeting=greeting)


async def tell(
    live: LiveSession, turn: str, *events: Event, parent: str = "", episode: str = "", reply: str = ""
) -> str:
    """A turn behind ``parent``, or behind the head, in the journal and in memory."""
    above = live.tree.get(parent or live.head)
    delta = Delta(events, status=ReportStatus.OK)
    told = Turn(
        turn,
        live.session.id,
        above.id,
        above.depth + 1,
        1.0,
        "가자",
        reply or f"{turn}: 간다.",
        delta,
        TurnKind.NARRATION,
        jump=live.tree.jump_for(above.id),
    )
    state = fold(await live.state(above.id), delta, turn=turn, depth=told.depth)
    node = node_of(told, user_key="w", reply_key=identity_key(told.reply), episode=episode, present=state.present)
    live.session = await live.journal.append(live.session, [TurnEntry(told, "w", episode, state.present)], head=turn)
    live.record(told, node, state)
    return turn
