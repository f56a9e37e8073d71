"""Assembles the engine from a configuration, and resumes pending work."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial

from attrs import field, frozen

from saga_core.assembly.curators import Reviewers, open_curators
from saga_core.assembly.foundations import Foundations, lay_foundations, made
from saga_core.assembly.host import Host, ResidentScopes, hosting_of, share
from saga_core.assembly.parts import OpenArguments, Parts
from saga_core.capabilities import Capability
from saga_core.catalog import Memory, Sessions, Timelines
from saga_core.config import Config, Settings
from saga_core.context import (
    ContextReader,
    ContextSource,
    RecentContexts,
    default_reader,
    open_plugin_source,
    own_sources,
    plugin_source,
)
from saga_core.counters import Counters
from saga_core.errors import LeaseLost, NewerSchema, StoreCorrupt, StoreError, StoreLocked, StoreTimeout
from saga_core.hosting import Admission, HostedEngine, OwnershipListener
from saga_core.jobs import (
    CHAPTER_TOKENS,
    Asking,
    Backfill,
    Background,
    BackgroundBills,
    CardsJob,
    Chapters,
    CollectionJob,
    DoubtsJob,
    EditsJob,
    ExtractionJob,
    ForgettingJob,
    Pace,
    PersonasJob,
    ReviewsJob,
    VectorsJob,
)
from saga_core.journal import Journal
from saga_core.maintenance import Tools
from saga_core.play import (
    ContextReading,
    NarratorModels,
    OpenCalls,
    Places,
    Play,
    PrefixTexts,
    Prompting,
    PromptMemories,
    Recorder,
    TurnBills,
    TurnWork,
)
from saga_core.ports import Clock
from saga_core.sessions import MissingReports, OtherSessions, Perspectives, SharedWorlds
from saga_core.storage import (
    DAMAGED,
    ReadOnlyOnCorruption,
    SelfHealingStore,
    Stores,
    make_private_once,
    notice_change,
    notice_other_journals,
    open_stores,
)
from saga_core.stores import Curator, GraphStore, VectorStore
from saga_core.transcript import Matcher
from saga_core.views import Views
from saga_core.world import WorldLibrary, default_roots

log = logging.getLogger("saga")


async def assemble(config: Config, opening: OpenArguments) -> Parts:
    """Open the stores of ``config`` and build the engine. Raises ``StoreError`` and ``BadInput`` with all closed."""
    counters, settings = opening.counters or Counters(), Settings(config)
    async with AsyncExitStack() as stack:
        one_machine = opening.hosting is not None and opening.hosting.one_machine
        stores = await open_stores(
            config,
            counters,
            stores=opening.stores,
            embedder=opening.embedder,
            mend=opening.resume,
            alone=not one_machine,
            tolerant=opening.tolerant,
        )
        stack.push_async_callback(stores.aclose)
        hosting = await hosting_of(opening, stores)
        rights = share(config, opening, hosting, stores, counters)
        journal, whole = await _open_journal(config, stores, counters, opening)
        admission = None
        if hosting is not None:
            engine = HostedEngine(
                settings=settings,
                state=stores.state,
                journal=journal,
                clock=opening.clock,
                entropy=opening.entropy,
                counters=counters,
                shared=rights is not None,
            )
            admission = hosting.admission(engine)
            stack.push_async_callback(admission.aclose)
        host = Host(rights=rights, admission=admission, one_machine=one_machine)
        parts = await _build(lay_foundations(settings, opening, stores, journal, counters, host))
        if admission is not None and whole:
            await _read_keys(admission, opening, counters)
        stack.push_async_callback(parts.supervisor.aclose, 0.0)
        healing = _rendered_when_renewed(parts)
        if opening.resume and whole:
            if rights is not None:
                await rights.start()
            if admission is not None:
                await admission.start()
            try:
                await make_private_once(stores, config)
                await _take_up(parts, healing)
            except StoreCorrupt as error:
                if not opening.tolerant:
                    raise
                counters.degrade("background", f"what waited is not taken up: {error}")
        stack.pop_all()
        return parts
    raise AssertionError("unreachable")  # the exit stack swallows nothing; for the type checker


async def _read_keys(admission: Admission, opening: OpenArguments, counters: Counters) -> None:
    """Read the API keys before the first request."""
    try:
        await admission.read()
    except StoreError as error:
        if not opening.tolerant:
            raise
        counters.degrade("access", f"the keys cannot be read: {error}")


async def _open_journal(
    config: Config, stores: Stores, counters: Counters, opening: OpenArguments
) -> tuple[Journal, bool]:
    """Return the journal, and whether it can be read and written."""
    try:
        journal = Journal(stores.state, counters)
        await journal.open()
        await notice_change(stores, counters, config.data_dir, act=opening.resume)
        if "state" not in (opening.stores or {}):
            await notice_other_journals(config, stores.state, counters)
    except StoreError as error:
        if not opening.tolerant or isinstance(error, NewerSchema | StoreLocked | StoreTimeout):
            raise
        if isinstance(error, StoreCorrupt) and isinstance(stores.state, ReadOnlyOnCorruption):
            await stores.state.found_damaged(error)
        elif DAMAGED not in counters.degraded:
            counters.degrade("background", f"what waited is not taken up: {error}")
        return Journal(stores.state, counters), False
    return journal, True


# -- the parts --------------------------------------------------------------------------------------------------


async def _build(base: Foundations) -> Parts:
    """Build all parts."""
    config, stores, rights = base.settings.config, base.stores, base.rights
    worlds, contexts = WorldLibrary(default_roots(config.base)), RecentContexts()
    bills = BackgroundBills(base.settings, base.ledger, base.live, base.locks, base.ids, base.clock, base.counters)
    reviewers = await open_curators(
        config, stores, base.counters, base.opening.curator, base.foreground, bills, base.opening.reviewer
    )
    learning = await _learning(base, bills)
    reader = await _reader(base, learning.sources)
    extraction = _extraction(base, bills)
    silent = MissingReports(base.counters, extraction.reader)
    extraction.was_read = silent.read
    forgetting = ForgettingJob(reviewers.curators, stores.state, base.counters)
    reviews = made(
        ReviewsJob,
        base,
        curators=(*reviewers.curators, *learning.learners),
        extraction=extraction,
        interval=config.curator.interval,
        blocks=config.curator.memory_block_schema,
        stand_ins=reviewers.stand_ins,
        remote=forgetting,
        paces=learning.paces,
        asking=_asking(config, reviewers),
        count=stores.counter.count,
    )
    vectors = made(VectorsJob, base)
    matcher = Matcher(base.journal, base.live.tree, rights.ask_elsewhere if rights is not None else None)
    memories = PromptMemories(stores.state, base.counters)
    prompting = made(
        Prompting,
        base,
        models=NarratorModels(base.settings, memories),
        memories=memories,
        texts=PrefixTexts(config.token_budget, stores.counter, memories),
        perspectives=Perspectives(),
        counter=stores.counter,
    )
    sessions = made(Sessions, base, worlds=worlds, letting_go=reviews.letting_go, silent=silent)
    cards, doubts, chapters = _asking_jobs(base, bills, extraction)
    personas, edits = made(PersonasJob, base), made(EditsJob, base)
    collection = CollectionJob(sessions.collect, _emptying(stores, base.clock), base.clock, base.counters)
    # Ordered by dependency.
    for job in (base.views, extraction, edits, cards, personas, doubts, reviews, forgetting, vectors, collection):
        base.supervisor.add(job)
    work = TurnWork(
        render=base.views.submit,
        read=extraction.kick,
        began=cards.began,
        proved=extraction.prove,
        known=extraction.wait,
        why_unread=extraction.why_unread,
        offer=extraction.offer,
        edited=edits.submit,
        leave=sessions.leave_new,
    )
    if rights is not None:
        rights.listen(_listener(base, memories, silent))
    return made(
        Parts,
        base,
        worlds=worlds,
        reader=reader,
        prompting=prompting,
        matcher=matcher,
        play=_play(base, worlds, matcher, reader, prompting, contexts, silent, work),
        sessions=sessions,
        timelines=made(Timelines, base, sessions=sessions, letting_go=reviews.letting_go, contexts=contexts),
        views=made(
            Views,
            base,
            graph_store=stores.graph,
            cache=stores.cache,
            reader=reader,
            contexts=contexts,
            front=prompting.pages_at,
            authored=prompting.texts.of_world,
        ),
        memory=made(Memory, base),
        tools=_tools(base, sessions, reviews, vectors, prompting, contexts),
        background=made(
            Background,
            base,
            extraction=extraction,
            reviews=reviews,
            vectors=vectors,
            forgetting=forgetting,
            silent=silent,
            backfill=made(Backfill, base, extraction=extraction),
            chapters=chapters,
        ),
    )


def _emptying(stores: Stores, clock: Clock) -> Callable[[], Awaitable[int]]:
    """What removes the sessions for good that were deleted more than a day ago."""

    async def empty() -> int:
        from saga_core.maintenance import empty_trash

        return await empty_trash(stores.state, clock.now())

    return empty


def _listener(base: Foundations, memories: PromptMemories, silent: MissingReports) -> OwnershipListener:
    """What happens when a session is taken over or lost, or when another server left work."""

    def forget(session: str) -> None:
        base.live.forget(session)
        memories.forget(session)
        silent.forget(session)

    async def take_up(session: str) -> None:
        async with base.locks.writing(session):  # a write of this server is not an interrupted one
            if await base.journal.settle(session):
                base.live.forget(session)
        await base.supervisor.take_up(session)

    def read_shares_again() -> None:
        if base.shared.strategies:
            base.live.forgotten += 1  # other servers' sessions may have new memories

    def is_busy(session: str) -> bool:
        # A process keeps the sessions it has in memory: forwarding a request is cheaper than reading the session again.
        return base.supervisor.busy(session) or (base.host.one_machine and base.live.peek(session) is not None)

    scopes = ResidentScopes(base.stores, base.settings.config.session.live_timelines)
    return OwnershipListener(
        is_busy=is_busy,
        on_stale=forget,
        on_owned=scopes.hold,
        on_free=scopes.release,
        on_inherited=take_up,
        on_beat=read_shares_again,
    )


def _play(
    base: Foundations,
    worlds: WorldLibrary,
    matcher: Matcher,
    reader: ContextReader,
    prompting: Prompting,
    contexts: RecentContexts,
    silent: MissingReports,
    work: TurnWork,
) -> Play:
    """Build the part that begins turns."""
    open_calls = OpenCalls()
    return made(
        Play,
        base,
        worlds=worlds,
        places=made(Places, base, matcher=matcher, open_calls=open_calls, room=base.views.room, edited=work.edited),
        reading=made(ContextReading, base, reader=reader, graph=base.stores.graph, others=made(OtherSessions, base)),
        prompting=prompting,
        recorder=made(
            Recorder,
            base,
            memories=prompting.memories,
            bills=made(
                TurnBills,
                base,
                models=prompting.models,
                memories=prompting.memories,
                counter=base.stores.counter,
            ),
            work=work,
            silent=silent,
            open_calls=open_calls,
        ),
        contexts=contexts,
        work=work,
        silent=silent,
        perspectives=prompting.perspectives,
        shared_worlds=SharedWorlds(base.stores.state, base.ids, base.counters),
    )


async def _reader(base: Foundations, more: Sequence[ContextSource]) -> ContextReader:
    """Build the reader with ``more`` sources and those of other packages, which are closed with the stores."""
    config = base.settings.config
    taken, guests = {source.name for source in (*own_sources(config), *more)}, [*more]
    for name in config.recall.sources:
        guest = await open_plugin_source(name, config, taken)
        guests.append(guest)
        base.stores.keep(f"recall.sources.{name}", guest)
    for name, source in base.opening.sources.items():
        guests.append(plugin_source(f"sources[{name!r}]", name, source, {each.name for each in guests} | taken))
    return default_reader(
        config,
        base.stores.counter,
        clock=base.clock,
        vectors=base.stores.vector,
        embedder=base.stores.embedder,
        guests=guests,
    )


@frozen
class Learning:
    """The learners, paces and sources of the configured memory strategies; empty without any."""

    learners: Sequence[Curator] = ()
    paces: Mapping[str, Pace] = field(factory=dict)
    sources: Sequence[ContextSource] = ()


async def _learning(base: Foundations, bills: BackgroundBills) -> Learning:
    """Build the learners, paces and sources of the memory strategies, if any are configured."""
    config = base.settings.config
    if not config.memory_strategies:
        return Learning()
    from saga_core.assembly.learners import (  # if wanted
        choose_model,
        make_learners,
        open_strategies,
        paces_of,
        source_of,
    )

    strategies = await open_strategies(config)
    chosen = choose_model(config, base.opening.curator, base.opening.extractor)
    learners = make_learners(config, strategies, chosen, base.stores, base.counters, base.foreground, bills, base.clock)
    return Learning(learners, paces_of(config), source_of(strategies))


def _extraction(base: Foundations, bills: BackgroundBills) -> ExtractionJob:
    """Build the job that reads unreported turns."""
    config, opening = base.settings.config, base.opening
    automatic = opening.extractor is None
    chat = opening.automatic if automatic else opening.extractor
    extractor = None
    if chat is not None:
        from saga_core.extraction import Extractor  # only needed with a model

        extractor = Extractor(
            chat,
            config.models.extraction or chat.name,
            base.stores.counter,
            report=base.counters.add,
            once=automatic,
            # A model of the player's own is a small one, as far as anybody knows.
            brief=automatic and config.extraction.automatic == "local",
        )
    return made(
        ExtractionJob,
        base,
        extractor=extractor,
        automatic=automatic,
        asks=config.extraction.review == "ask",
        at_head=automatic and config.extraction.automatic == "local",
        bills=bills,
        admit_call=base.admission.admit_call if base.admission is not None else None,
    )


def _asking_jobs(
    base: Foundations, bills: BackgroundBills, extraction: ExtractionJob
) -> tuple[CardsJob, DoubtsJob, Chapters]:
    """Build what asks the model of ``extraction`` about cards, names and chapters."""
    extractor, asks = extraction.extractor, base.settings.config.extraction
    asking = made(
        Asking,
        base,
        upstream=extractor.chat.name if extractor is not None else "",
        model=extractor.model if extractor is not None else "",
        bills=bills,
    )
    call = extractor.call_for("chapters", CHAPTER_TOKENS) if extractor is not None else None
    chapters = made(Chapters, base, asking=asking, call=call, count=base.stores.counter.count)
    cards = CardsJob(reader=extractor if asks.cards else None, asking=asking)
    doubts = DoubtsJob(reader=extractor if asks.names else None, asking=asking)
    return cards, doubts, chapters


def _asking(config: Config, reviewers: Reviewers) -> frozenset[str]:
    """Return the names of the curators whose proposals wait for the user. Those of the rules never wait."""
    found = set()
    if config.memory_strategies:
        from saga_core.strategies import PREFIX  # only needed with strategies

        found = {PREFIX + name for name, strategy in config.memory_strategies.items() if strategy.review == "ask"}
    if config.curator.review == "ask":
        models = (*reviewers.curators, *reviewers.stand_ins.values())
        found |= {each.info.name for each in models if Capability.RESIDENT not in each.info.capabilities}
    return frozenset(found)


def _tools(
    base: Foundations,
    sessions: Sessions,
    reviews: ReviewsJob,
    vectors: VectorsJob,
    prompting: Prompting,
    contexts: RecentContexts,
) -> Tools:
    rights, admission = base.rights, base.admission

    def forget_resident() -> None:
        contexts.clear()
        prompting.forget()

    async def finish_views(seconds: float) -> None:
        await base.supervisor.drain(seconds, base.views, vectors)

    return made(
        Tools,
        base,
        worlds=sessions.worlds,
        queued=base.views.queued,
        finish_views=finish_views,
        delete=sessions.delete,
        replace=sessions.replace,
        own=rights.own if rights is not None else None,
        import_entries=admission.import_entries if admission is not None else lambda owner, session: {},
        letting_go=reviews.letting_go,
        left_elsewhere=reviews.remote.left,
        forget_elsewhere=reviews.remote.try_all,
        forget_at_hand=forget_resident,
    )


# -- work that was left ------------------------------------------------------------------------------------------


def _rendered_when_renewed(parts: Parts) -> list[SelfHealingStore]:
    """Have the views rendered again whenever a store was emptied, and return the stores to which that may happen."""
    healing = [store for store in parts.stores.all().values() if isinstance(store, SelfHealingStore)]
    for store in healing:
        store.renewed = partial(_render_all, parts)
    return healing


async def _render_all(parts: Parts) -> None:
    journal = parts.journal
    parts.projector.forget_lore()
    for session in await journal.sessions():
        try:
            await journal.add_jobs(session.id, [session.head or session.root])
        except LeaseLost:
            continue  # another server has taken the session and renders it
        parts.background.views.submit(session.id, [session.head or session.root])


async def _take_up(parts: Parts, healing: Sequence[SelfHealingStore]) -> None:
    """Resume pending work, and render views again if they are missing."""
    if any(store.fresh for store in healing) or await _lost(parts.stores, parts.counters, parts.journal):
        await _render_all(parts)
    await parts.supervisor.resume()


async def _lost(stores: Stores, counters: Counters, journal: Journal) -> bool:
    """Whether a durable view store is empty although there are sessions, because its files were removed."""
    for kind in ("graph", "vector"):
        store: GraphStore | VectorStore = stores.graph if kind == "graph" else stores.vector
        if Capability.DURABLE not in store.info.capabilities or f"{kind}.changed" in counters.degraded:
            continue
        if kind == "vector" and not await _vectors_due(stores, journal):
            continue
        try:
            empty = not await store.scopes()
        except StoreCorrupt:
            continue  # it has just been repaired, which renders all views anyway
        if empty and await journal.sessions():
            log.warning("%s store: it is empty; its views are rendered again from the journal", kind)
            return True
    return False


async def _vectors_due(stores: Stores, journal: Journal) -> bool:
    """Whether lore vectors must exist whose absence is not noticed elsewhere. This is so for a spelling-based embedder.

    With a semantic embedder, missing vectors are searched for anyway.
    """
    if stores.embedder.semantic:
        return False
    for digest in {session.digest for session in await journal.sessions()}:
        with suppress(StoreCorrupt):  # playing in that world reports it
            if (await journal.world(digest)).lore:
                return True
    return False
