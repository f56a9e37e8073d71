"""Opening: from a configuration to an engine that runs, with the work that waits taken up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from saga_core.billing.ledger import Ledger
from saga_core.capabilities import Capability
from saga_core.config import Config, load_config
from saga_core.context.guests import open_guest
from saga_core.context.reader import ContextReader, default_reader, own_sources
from saga_core.context.sources import ContextSource
from saga_core.engine.background_bills import BackgroundBills
from saga_core.engine.counters import Counters
from saga_core.engine.curating import Curations
from saga_core.engine.curators import open_curators
from saga_core.engine.extracting import Extractions
from saga_core.engine.kept_elsewhere import KeptElsewhere
from saga_core.engine.lanes import Lanes
from saga_core.engine.live import LiveSessions
from saga_core.engine.mending import Mending
from saga_core.engine.open_stores import Stores, open_stores
from saga_core.engine.projector import Projector
from saga_core.engine.prompting import Prompting
from saga_core.engine.quiet import Quiet
from saga_core.engine.reads import Reads
from saga_core.engine.review_pace import Pace
from saga_core.engine.saga import Saga, Source
from saga_core.engine.shared_memories import SharedMemories
from saga_core.engine.shown_by import notice_change
from saga_core.engine.vector_filling import VectorFilling
from saga_core.errors import NewerSchema, StoreCorrupt, StoreError
from saga_core.ids import IdSource
from saga_core.journal.journal import Journal, Wanted
from saga_core.journal.matching import Matcher
from saga_core.ports import ChatModel, Clock, Entropy
from saga_core.stores.curator import Curator
from saga_core.stores.graph import GraphStore
from saga_core.stores.vector import VectorStore
from saga_core.world.library import WorldLibrary, default_roots

if TYPE_CHECKING:
    from saga_core.extraction.extractor import Extractor

log = logging.getLogger("saga")


@frozen
class _Learning:
    """What memory strategies bring; nothing without any."""

    learners: Sequence[Curator] = ()
    paces: Mapping[str, Pace] = field(factory=dict)
    sources: Sequence[ContextSource] = ()


@define
class Opening:
    """A ``Saga`` that is about to open: await it, or use it in ``async with``."""

    source: Source
    extractor: ChatModel | None
    curator: ChatModel | None
    clock: Clock
    entropy: Entropy
    resume: bool = True
    tolerant: bool = False
    _saga: Saga | None = field(default=None, init=False)

    def __await__(self) -> Generator[Any, None, Saga]:
        return self._open().__await__()

    async def __aenter__(self) -> Saga:
        self._saga = await self._open()
        return self._saga

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._saga is not None
        await self._saga.aclose()

    async def _open(self) -> Saga:
        config = load_config(self.source)
        counters = Counters()
        stores = await open_stores(config, counters, mend=self.resume, tolerant=self.tolerant)
        try:
            return await self._assemble(config, stores, counters)
        except BaseException:
            await stores.aclose()
            raise

    async def _assemble(self, config: Config, stores: Stores, counters: Counters) -> Saga:
        journal, whole = await self._journal(config, stores, counters)
        reads = Reads()
        projector = Projector(
            stores.state,
            stores.graph,
            stores.vector,
            stores.cache,
            stores.embedder,
            self.clock,
            counters,
            config.session.live_timelines,
            reads,
        )

        async def work(session_id: str, turns: Sequence[str]) -> None:
            session = await live.get(session_id)
            await projector.render(session, turns, vectors=False)
            await projector.let_go(live.evicted)
            session.rest()
            if config.memory_strategies:
                await shared.publish(session)
            await extractions.settle(session, turns)
            curations.kick(session_id)
            filling.submit(session_id, turns)

        def busy(session_id: str) -> bool:
            return lanes.busy(session_id) or extractions.busy(session_id) or curations.busy(session_id)

        lanes = Lanes(work, counters)
        live = LiveSessions(journal, counters, busy, config.session.checkpoint_every)
        ids = IdSource(self.clock, self.entropy)
        filling = VectorFilling(projector, journal, live, lanes.gates, counters)
        bills = BackgroundBills(config, Ledger(stores.state), live, lanes.gates, ids, self.clock, counters)
        extractions = Extractions(self._extractor(config, stores, counters), live, lanes, journal, ids, counters, bills)
        reviewers = await open_curators(config, stores, counters, self.curator, extractions.quiet, bills)
        elsewhere = KeptElsewhere(reviewers.curators, stores.state, counters)
        shared = SharedMemories(stores.state, live)
        learning = _Learning()
        if config.memory_strategies:
            learning = await self._learning(config, stores, counters, extractions.quiet, bills)
        curations = Curations(
            (*reviewers.curators, *learning.learners),
            live,
            lanes,
            extractions,
            ids,
            self.clock,
            counters,
            config.curator.interval,
            config.curator.memory_block_schema,
            reviewers.stand_ins,
            elsewhere,
            learning.paces,
            shared if config.memory_strategies else None,
            stores.counter.count,
            reads,
        )
        saga = Saga(
            config=config,
            stores=stores,
            worlds=WorldLibrary(default_roots(config.base)),
            clock=self.clock,
            ids=ids,
            counters=counters,
            journal=journal,
            live=live,
            lanes=lanes,
            projector=projector,
            filling=filling,
            extractions=extractions,
            curations=curations,
            shared=shared,
            reader=await self._reader(config, stores, learning.sources),
            matcher=Matcher(journal, live.tree),
            prompting=Prompting(config, self.clock, stores.counter, counters, Ledger(stores.state)),
        )
        views = [store for store in stores.all().values() if isinstance(store, Mending)]

        async def render_all() -> None:
            projector.forget_lore()
            for session in await journal.sessions():
                await journal.add_jobs(session.id, [session.head or session.root])
                lanes.submit(session.id, [session.head or session.root])

        for store in views:
            store.renewed = render_all
        if not self.resume or not whole:
            return saga
        if any(store.fresh for store in views) or await _lost(stores, counters, journal):
            await render_all()
        waiting: dict[str, list[str]] = {}
        wanted: dict[str, dict[str, Wanted]] = {}
        for session_id, turn, wants in await journal.jobs():
            if wants is None:
                waiting.setdefault(session_id, []).append(turn)
            else:
                wanted.setdefault(session_id, {})[turn] = wants
        filling.sweep()
        for session_id, turns in waiting.items():
            lanes.submit(session_id, turns)
        for session_id, each in wanted.items():
            extractions.resume(session_id, each)
        await curations.resume()
        if waiting:
            log.info("resuming the work of %d turns in %d sessions", sum(map(len, waiting.values())), len(waiting))
        if config.session.collect_after_days:
            saga._collecting = asyncio.create_task(saga.keep_collecting(), name="saga-collect")
        return saga

    async def _journal(self, config: Config, stores: Stores, counters: Counters) -> tuple[Journal, bool]:
        """The journal, and whether it can be read and written."""
        try:
            journal = Journal(stores.state)
            await journal.open()
            await notice_change(stores, counters, config.data_dir, act=self.resume)
        except StoreError as error:
            if not self.tolerant or isinstance(error, NewerSchema):
                raise
            return Journal(stores.state), False
        return journal, True

    async def _reader(self, config: Config, stores: Stores, more: Sequence[ContextSource]) -> ContextReader:
        """The reader with ``more`` sources, and those that other packages bring, which are closed with the stores."""
        taken, guests = {source.name for source in (*own_sources(config), *more)}, [*more]
        for name in config.recall.sources:
            guest = await open_guest(name, config, taken)
            guests.append(guest)
            stores.keep(guest)
        return default_reader(
            config,
            stores.counter,
            clock=self.clock,
            vectors=stores.vector,
            embedder=stores.embedder,
            guests=guests,
        )

    async def _learning(
        self, config: Config, stores: Stores, counters: Counters, quiet: Quiet, bills: BackgroundBills
    ) -> _Learning:
        from saga_core.engine.learners import Models, make_learners, open_strategies, paces_of, source_of  # if wanted

        strategies = await open_strategies(config)
        models = Models(config, self.curator, self.extractor)
        learners = make_learners(strategies, models, stores, counters, quiet, bills, self.clock)
        return _Learning(learners, paces_of(config), source_of(strategies))

    def _extractor(self, config: Config, stores: Stores, counters: Counters) -> Extractor | None:
        if self.extractor is None:
            return None
        from saga_core.extraction.extractor import Extractor  # for whoever has a model for it

        model = config.models.extraction or self.extractor.name
        return Extractor(self.extractor, model, stores.counter, report=counters.add)


async def _lost(stores: Stores, counters: Counters, journal: Journal) -> bool:
    """Whether a store that keeps views on disk has none, though there are sessions: its files were taken away."""
    for kind in ("graph", "vector"):
        store: GraphStore | VectorStore = stores.graph if kind == "graph" else stores.vector
        if Capability.DURABLE not in store.info.capabilities or f"{kind}.changed" in counters.degraded:
            continue
        if kind == "vector" and not await _vectors_due(stores, journal):
            continue
        try:
            empty = not await store.scopes()
        except StoreCorrupt:
            continue  # it was mended just now, which has everything rendered anyway
        if empty and await journal.sessions():
            log.warning("%s store: it is empty; its views are made anew from the journal", kind)
            return True
    return False


async def _vectors_due(stores: Stores, journal: Journal) -> bool:
    """Whether vectors must be there that nobody else misses: those of lore, for an embedder that sees spelling.

    For one that sees more, what is missing is looked for anyway.
    """
    if stores.embedder.semantic:
        return False
    digests = {session.digest for session in await journal.sessions()}
    return any([(await journal.world(digest)).lore for digest in digests])
