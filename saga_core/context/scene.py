"""The scene of a read: computes once what several sources need."""

from __future__ import annotations

import asyncio
import logging
import re
from array import array
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any, TypeVar

from attrs import define, field
from cachetools import LRUCache

from saga_core.capabilities import Capability
from saga_core.context.model import ReadRequest
from saga_core.errors import ScopeMismatch, in_words
from saga_core.language import caseless, match_name
from saga_core.model import Entity, Kind, WorldState
from saga_core.naming import name_words, short_names, titles_alone, words_of_thing
from saga_core.ports import Embedder
from saga_core.projection import GraphImage
from saga_core.recall import LoreIndex, NameIndex, Passage, Walk, episodes_scope, looks_back, lore_scope, spec_of, walk
from saga_core.stores import Compare, Hit, VectorStore

log = logging.getLogger("saga.context")

T = TypeVar("T")

_SESSIONS = 64
_SEEDS = 12
_FAN_OUT = 64

_CHARACTER = Kind.CHARACTER

EPISODE_HITS = 48
LORE_HITS = 30


@define(eq=False)
class StateNames:
    """Name indexes of a state's entities, and other data about entities that is cached across reads."""

    everything: NameIndex[str]
    characters: NameIndex[str]
    short: NameIndex[str]
    """The short names, such as "letter"."""
    latin: Mapping[str, str]
    """Those in Latin letters, with the ids."""
    wording: Mapping[str, frozenset[str]]
    """The words in the names of the things among them, by id."""
    dead: tuple[Mapping[str, Entity], dict[str, Entity]] | None = None
    """The entities, and the dead characters among them."""
    lore: dict[str, tuple[Entity, LoreIndex, frozenset[str]]] = field(factory=dict)
    """By entity id: the entity, an index, and the entries of the index with a name of the entity."""

    def asked_in(self, words: Passage) -> set[str]:
        """The ids of the entities that the player's words mention, also by their short names: in replies, the bell is
        any bell. A short name in Latin letters counts behind an article or an owner: "the watch", not "I watch"; also
        with more of the name before it, or as several: "the tuning fork", "the keys"."""
        found = self.everything.found_in(words) | self.short.found_in(words)
        for phrase in _definite().findall(words.folded) if self.latin else ():
            before: frozenset[str] = frozenset()
            for word in phrase.split():
                stem = words_of_thing(word)
                id_ = next((self.latin[each] for each in (word, *stem) if each in self.latin), "")
                if id_ and before <= self.wording.get(id_, frozenset()):
                    found.add(id_)
                before |= stem
        return found


_BRANCHES = 2
"""The branches of a session whose names are kept."""


class EntityNames:
    """A cache of state names, two per session: a player may go back and forth between two branches. They are rebuilt
    only when a name changes."""

    def __init__(self) -> None:
        self._kept: LRUCache[str, list[tuple[Mapping[str, Entity], StateNames]]] = LRUCache(_SESSIONS)

    def of(self, session: str, state: WorldState) -> StateNames:
        """Return the names of the state's entities."""
        kept = self._kept.get(session) or []
        names = next((names for entities, names in kept if _same_names(entities, state.entities)), None)
        if names is None:
            names = _names(state.entities.values())
        self._kept[session] = [(state.entities, names), *(each for each in kept if each[1] is not names)][:_BRANCHES]
        return names


def _same_names(old: Mapping[str, Entity], new: Mapping[str, Entity]) -> bool:
    if old is new:
        return True
    if len(old) != len(new):
        return False
    for id_, entity in new.items():
        known = old.get(id_)
        if known is not entity and (known is None or known.name != entity.name or known.aliases != entity.aliases):
            return False
    return True


def _names(entities: Collection[Entity]) -> StateNames:
    characters = [(each.id, each.names) for each in entities if each.kind is Kind.CHARACTER]
    characters += _short_names(entities)
    others = [(each.id, each.names) for each in entities if each.kind is not Kind.CHARACTER]
    short = short_names(entities)
    latin = titles_alone(entities) | {
        word: id_
        for id_, name in short.items()
        if not caseless(name)
        for word in (match_name(name), *words_of_thing(name))
    }
    index = NameIndex((id_, (name,)) for id_, name in short.items() if caseless(name))
    wording = {
        each.id: frozenset[str]().union(*map(words_of_thing, each.names)) for each in entities if each.id in short
    }
    return StateNames(NameIndex([*characters, *others]), NameIndex(characters), index, latin, wording)


@cache
def _definite() -> re.Pattern[str]:
    """Matches what stands before a thing that is known, and the words behind it."""
    owners, words = ("|".join(map(re.escape, sorted(name_words(row)))) for row in ("possessives", "definite"))
    return re.compile(rf"(?:\b(?:{words})|\w(?:{owners})) (?=((?:\w+ ){{0,3}}\w+))")


def _short_names(entities: Iterable[Entity]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the short names of characters with title and name ("크룩" of "고블린왕 크룩", "Krook" of "Krook the Goblin
    King", "Maren" of "Elder Maren"), unless two characters share one."""
    called: dict[str, list[str]] = {}
    for entity in entities:
        if entity.kind is not Kind.CHARACTER or " " not in entity.name:
            continue
        words = entity.name.split()
        byname = not caseless(words[0][0]) and len(words) > 2 and words[1].casefold() in ("the", "of")
        word = words[0] if byname else words[-1]
        if len(word) >= 2:
            called.setdefault(word, []).append(entity.id)
    return [(ids[0], (word,)) for word, ids in called.items() if len(ids) == 1]


class Scene:
    """A request and the data derived from it. Stores and the embedder are asked once, at the first use. If an answer is
    late or failed, the sources go on without it."""

    def __init__(
        self,
        request: ReadRequest,
        names: StateNames,
        *,
        count: Callable[[str], int],
        embedder: Embedder | None = None,
        vectors: VectorStore | None = None,
        hops: int = 2,
        patience: float = 0.2,
        trusted: set[str] | None = None,
    ) -> None:
        """``count`` returns the tokens of a line. ``trusted`` has the scopes of ``vectors`` that are known to be made
        by this embedder; newly checked scopes are added."""
        self.request = request
        self.state = request.state
        self.count = count
        self.late: set[str] = set()
        self._names = names
        self._embedder = embedder
        self._vectors = vectors
        self._hops = hops
        self._trusted = trusted if trusted is not None else set()
        self._until = asyncio.get_running_loop().time() + patience
        self._answers: dict[str, asyncio.Future[Any]] = {}

    @property
    def baseline(self) -> float:
        """The cosine of unrelated texts; 0 without an embedder."""
        return self._embedder.baseline if self._embedder is not None else 0.0

    @property
    def spelling(self) -> bool:
        """Whether there is no embedder, or it compares only spelling, as the lexical index does."""
        return self._embedder is None or not self._embedder.semantic

    @cached_property
    def passage(self) -> Passage | None:
        """The last two messages without the player's words; None if there are no others."""
        recent, words = self.request.recent, self.request.player_words
        others = recent[:-1] if recent and recent[-1] == words else recent
        return Passage.of(*others) if others else None

    @cached_property
    def spoken(self) -> Passage:
        """The player's words."""
        return Passage.of(self.request.player_words)

    @cached_property
    def looks_back(self) -> bool:
        """Whether the player asks for something or speaks of the past. Earlier turns may then use the whole block."""
        return looks_back(self.request.player_words)

    @cached_property
    def near(self) -> list[str]:
        """The ids of the characters present, then of those at the place."""
        return self.state.nearby()

    @cached_property
    def dead(self) -> dict[str, Entity]:
        """The dead characters, by id."""
        entities, known = self.state.entities, self._names.dead
        if known is None or known[0] is not entities:
            dead = [each for each in entities.values() if each.dead and each.kind is _CHARACTER]
            known = self._names.dead = entities, {each.id: each for each in dead}
        return known[1]

    def lore_about(self, id_: str) -> frozenset[str]:
        """Return the names of the lore entries that share a name with the entity; empty for an unknown entity."""
        entity, known = self.state.entities.get(id_), self._names.lore.get(id_)
        if entity is None:
            return frozenset()
        if known is None or known[0] is not entity or known[1] is not self.request.lore:
            index = self.request.lore
            known = self._names.lore[id_] = entity, index, index.named(entity.names)
        return known[2]

    @cached_property
    def named(self) -> frozenset[str]:
        """The ids of the entities that the last two messages mention."""
        here = self._names.everything.found_in(self.passage) if self.passage is not None else ()
        return self.asked.union(here) if self._says_words else frozenset(here)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The ids of the entities that the player's words mention."""
        return frozenset(self._names.asked_in(self.spoken))

    @cached_property
    def lore(self) -> tuple[str, ...]:
        """The lore entries that the last two messages mention."""
        here = self.request.lore.mentioned(self.passage) if self.passage is not None else ()
        return tuple(sorted({*here, *self.lore_asked})) if self._says_words else here

    @cached_property
    def lore_asked(self) -> tuple[str, ...]:
        """The lore entries that the player's words mention."""
        return self.request.lore.mentioned(self.spoken)

    @property
    def _says_words(self) -> bool:
        """Whether the player's words are the last message or the only one."""
        recent = self.request.recent
        return not recent or recent[-1] == self.request.player_words

    @cached_property
    def seeds(self) -> tuple[str, ...]:
        """The ids that the scene is about, at most 12: the player, the place, named entities and nearby characters."""
        state = self.state
        place = (state.location,) if state.location else ()
        about = (state.player, *place, *sorted(self.asked), *state.present, *sorted(self.named), *self.near)
        return tuple(dict.fromkeys(id_ for id_ in about if id_))[:_SEEDS]

    @cached_property
    def names_asked(self) -> tuple[str, ...]:
        """The names and aliases of the characters that the player's words mention, except the player character's."""
        entities = self.state.entities
        found = (entities[id_] for id_ in sorted(self.asked) if id_ != self.state.player)
        return tuple(dict.fromkeys(name for each in found if each.kind is Kind.CHARACTER for name in each.names))

    @cached_property
    def absent_asked(self) -> bool:
        """Whether the player's words mention a character who is not here now."""
        state, entities = self.state, self.state.entities
        here = {state.player, *state.present}
        return any(id_ not in here and entities[id_].kind is _CHARACTER for id_ in self.asked)

    @cached_property
    def other_names(self) -> tuple[str, ...]:
        """The aliases of the entities that the player's words mention, except those in the words themselves."""
        entities, spoken = self.state.entities, self.spoken.folded
        found = (entities[id_] for id_ in sorted(self.asked) if id_ != self.state.player)
        return tuple(dict.fromkeys(name for each in found for name in each.aliases if match_name(name) not in spoken))

    def ask_graph(self) -> None:
        """Start the walk that ``walked`` waits for."""
        if self.request.graph is not None and self._hops:
            self._begin("graph", self._walk, self._graph_is_here)

    async def walked(self) -> Walk:
        """Return the walk over the graph around the scene, empty without a graph or an answer."""
        if self.request.graph is None or not self._hops:
            return Walk()
        found = await self._once("graph", self._walk, self._graph_is_here)
        return found if found is not None else Walk()

    def _graph_is_here(self) -> bool:
        graph = self.request.graph
        return isinstance(graph, GraphImage) or answers_at_once(graph)

    async def _walk(self) -> Walk:
        graph = self.request.graph
        if graph is None:
            return Walk()
        return await walk(graph, self.request.graph_scope, self.seeds, hops=self._hops, limit=_FAN_OUT)

    def ask_meaning(self) -> None:
        """Start embedding the player's words, which ``similar_lore`` and ``similar_episodes`` wait for."""
        if self._embedder is not None and self._vectors is not None and self._has_meaning:
            self._begin("embedder", self._embed, self._embeds_at_once)

    async def similar_lore(self) -> dict[str, float]:
        """Return the cosines of the 30 lore entries nearest to the player's words, by name."""
        if not self.request.lore.entries:
            return {}
        hits = await self._nearest("vectors.lore", lore_scope(self.request.world.digest), LORE_HITS)
        return {hit.id: hit.score for hit in hits}

    async def similar_episodes(self, k: int = EPISODE_HITS) -> dict[str, float]:
        """Return the cosines of the ``k`` turns of the session nearest to the player's words, on any path.

        Turns at the depths that the end of the sent history covers are left out.
        """
        hits = await self._nearest("vectors.episodes", episodes_scope(self.request.session), k, self._hidden_depth)
        return {hit.id: hit.score for hit in hits}

    @cached_property
    def _hidden_depth(self) -> int:
        """The depth of the deepest turn of the path that the history does not show."""
        episodes, shown = self.request.episodes, self.request.shown
        depths = {episodes.depth(turn) for turn in shown if episodes.on_path(turn)} if episodes is not None else set()
        depth = self.state.depth
        while depth in depths:
            depth -= 1
        return depth

    async def _nearest(self, what: str, scope: str, k: int, deepest: int | None = None) -> list[Hit]:
        vectors, vector = self._vectors, await self._vector()
        if vectors is None or vector is None:
            return []
        where = Compare("depth", "le", deepest) if deepest is not None else None

        async def ask() -> list[Hit]:
            if scope not in self._trusted and not await self._made_by_this_embedder(vectors, scope):
                return []
            return await vectors.query([scope], vector, k, where=where)

        return await self._once(what, ask, partial(answers_at_once, vectors)) or []

    async def _made_by_this_embedder(self, vectors: VectorStore, scope: str) -> bool:
        """Whether the scope exists. Raises ``ScopeMismatch`` if another embedder made it: vectors of equal size could
        be compared, but the result would be meaningless."""
        made = await vectors.describe(scope)
        if made is None or self._embedder is None:
            return False
        wanted = spec_of(scope, self._embedder)
        if made != wanted:
            raise ScopeMismatch(
                f"its vectors were made by {made.embedder}, those of {wanted.embedder} are made in the background"
            )
        self._trusted.add(scope)
        return True

    @cached_property
    def _meant(self) -> str:
        """The player's words without the characters' names."""
        return self._names.characters.cut_from(self.request.player_words)

    @cached_property
    def _has_meaning(self) -> bool:
        return any(map(str.isalnum, self._meant))

    async def _vector(self) -> array[float] | None:
        """Return the vector of the player's words without character names, which are found by spelling."""
        if self._embedder is None or self._vectors is None or not self._has_meaning:
            return None
        found = await self._once("embedder", self._embed, self._embeds_at_once)
        return found[0] if found and any(found[0]) else None

    def _embeds_at_once(self) -> bool:
        return getattr(self._embedder, "at_once", False) is True

    async def _embed(self) -> Sequence[array[float]]:
        return await self._embedder.embed([self._meant], "query") if self._embedder is not None else ()

    async def _once(
        self, what: str, ask: Callable[[], Coroutine[Any, Any, T]], at_once: Callable[[], bool]
    ) -> T | None:
        """Return the answer to ``ask``, shared by all callers with the same ``what``; None if it is late or failed."""
        answer = self._begin(what, ask, at_once)
        if not answer.done():
            # Stores in memory answer within one turn of the event loop, without a timer.
            await asyncio.sleep(0)
        if not answer.done():
            await asyncio.wait((answer,), timeout=max(0.0, self._until - asyncio.get_running_loop().time()))
        if not answer.done():
            self._miss(what, "no answer within the deadline")
            return None
        if answer.cancelled():
            self._miss(what, "it was cancelled")
            return None
        error = answer.exception()
        if error is not None:
            self._miss(what, in_words(error))
            return None
        return answer.result()

    def _begin(
        self, what: str, ask: Callable[[], Coroutine[Any, Any, T]], at_once: Callable[[], bool]
    ) -> asyncio.Future[T]:
        answer = self._answers.get(what)
        if answer is None:
            answer = self._answers[what] = resident_read(ask, f"saga-context-{what}", at_once=at_once())
        return answer

    def _miss(self, what: str, reason: str) -> None:
        if what not in self.late:
            self.late.add(what)
            log.warning("context: %s left out: %s", what, reason)

    @property
    def answered(self) -> bool:
        """Whether stores and the embedder have answered all requests so far."""
        return all(answer.done() for answer in self._answers.values())

    def asked_for(self) -> list[asyncio.Future[Any]]:
        """Return all requests to stores and the embedder, answered or not."""
        return list(self._answers.values())


# -- reads that avoid creating a task if the answer is available at once ----------------------------------------


def answers_at_once(store: object) -> bool:
    """Whether a store's reads almost never wait: it is resident in memory and not shared with other writers."""
    capabilities: frozenset[Capability] = getattr(getattr(store, "info", None), "capabilities", frozenset())
    return Capability.RESIDENT in capabilities and Capability.SHARED not in capabilities


def resident_read(ask: Callable[[], Coroutine[Any, Any, T]], name: str, *, at_once: bool) -> asyncio.Future[T]:
    """Return the answer to ``ask``, which must only read. If ``at_once`` is right it is done, else a task ``name``.

    If the read has to wait after all, as the first read of a scope does, it is closed and asked again in a task. There
    it can be cancelled or time out without affecting the caller.
    """
    if at_once:
        running = ask()
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            waits = running.send(None)
        except StopIteration as done:
            answer.set_result(done.value)
            return answer
        except Exception as error:  # noqa: BLE001 - the caller that awaits the answer gets it
            answer.set_exception(error)
            _seen(answer)
            return answer
        let_go(running, waits)
    return asyncio.create_task(ask(), name=name)


def let_go(running: Coroutine[Any, Any, Any], waits: object) -> None:
    """Close a read that waits for ``waits``, as it is asked again."""
    running.close()
    if isinstance(waits, asyncio.Future):
        waits.add_done_callback(_seen)


def _seen(answer: asyncio.Future[Any]) -> None:
    """Take note of an error, so that asyncio logs none if nobody awaits the answer any more."""
    if not answer.cancelled():
        answer.exception()
