"""The scripts of sessions that play at once: each session's story, and the state that it must end in.

The players and the model's server generate the same scripts independently, so they need not exchange them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict, define, evolve, field, frozen

from saga_core.state_block import ItemAmount
from saga_core.world import render_world
from tests.bench.story.cast import make_cast, make_world
from tests.bench.story.storyteller import Storyteller, Told

CARRIED = 12
"""The most marks that a player carries."""
_NAMES = 30
"""Different marks of a session, which are used in turn."""
_MARK = {"ko": "표식", "en": "mark"}


@frozen
class LoadOptions:
    """The size and the pace of a load run."""

    sessions: int = 50
    turns: int = 20
    pieces: float = 20.0
    """Pieces of a reply that the model sends per second. With 0, it sends them without delay."""
    pause: float = 1.0
    """Seconds between a reply and the player's next words."""
    entities: int = 60
    lore: int = 60
    lang: str = "ko"
    seed: int = 1


def world_files(options: LoadOptions) -> dict[str, str]:
    """The files of the world that all sessions play in."""
    cast = make_cast(options.lang, options.entities, options.lore, options.seed)
    return dict(render_world(make_world(cast, options.lang, options.lore, options.seed)))


@define
class Script:
    """One session's story, told turn by turn."""

    options: LoadOptions
    number: int
    _teller: Storyteller = field(init=False)
    _turn: int = field(default=0, init=False)
    _place: str = field(default="", init=False)

    def __attrs_post_init__(self) -> None:
        options = self.options
        cast = make_cast(options.lang, options.entities, options.lore, options.seed)
        self._teller = Storyteller(cast, options.lang, options.turns, 1_000 * options.seed + self.number)

    @property
    def system(self) -> str:
        """The frontend's system prompt."""
        return self._teller.system_prompt(300)

    @property
    def turn(self) -> int:
        """The number of turns told so far."""
        return self._turn

    def next(self) -> Told:
        """The next turn. Besides the story's changes, the player gains a mark of this session and loses an old one."""
        told = self._teller.next()
        self._turn += 1
        self._place = told.fields.location or self._place
        fields = evolve(
            told.fields,
            items_gained=(*told.fields.items_gained, ItemAmount(self._mark(self._turn))),
            items_lost=(*told.fields.items_lost, *map(ItemAmount, self._lost())),
        )
        # Chats of one key that begin with the same words in the same world count as one restarted session.
        words = f"[{self.number}] {told.words}" if self._turn == 1 else told.words
        return evolve(told, words=words, fields=fields)

    def _mark(self, turn: int) -> str:
        return f"{_MARK[self.options.lang]} {self.number}-{turn % _NAMES}"

    def _lost(self) -> Sequence[str]:
        return [self._mark(self._turn - CARRIED)] if self._turn > CARRIED else []

    @property
    def marks(self) -> set[str]:
        """The marks that the player carries now."""
        return {self._mark(turn) for turn in range(max(1, self._turn - CARRIED + 1), self._turn + 1)}

    def faults(self, state: dict[str, object]) -> list[str]:
        """The differences between ``state``, as the admin API returns it, and this story."""
        found = []
        items = state.get("inventory")
        assert isinstance(items, list)
        carried = {item["name"] for item in items if item["name"].startswith(_MARK[self.options.lang] + " ")}
        if carried != self.marks:
            found.append(f"carries {sorted(carried)}, not {sorted(self.marks)}")
        if state.get("turn") != self._turn:
            found.append(f"stands at turn {state.get('turn')}, not {self._turn}")
        if state.get("location") != self._place:
            found.append(f"is at {state.get('location')!r}, not {self._place!r}")
        return [f"session {self.number}: {fault}" for fault in found]


def tag(number: int, turn: int) -> str:
    """A request's field ``user``, which tells the model's server which turn it asks for."""
    return f"{number}/{turn}"


def read_tag(text: str) -> tuple[int, int]:
    """The session and turn of a ``tag``."""
    number, _, turn = text.partition("/")
    return int(number), int(turn)


def plain(options: LoadOptions) -> dict[str, object]:
    """``options`` as data."""
    return asdict(options)
