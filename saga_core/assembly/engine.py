"""Assembles the engine from a configuration and resumes pending work."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, suppress

from saga_core.assembly.build_jobs import build_extraction, build_learning, build_reader, build_reviews
from saga_core.assembly.build_play import build_play, build_prompting
from saga_core.assembly.curators import open_curators
from saga_core.assembly.foundations import Foundations
from saga_core.assembly.parts import Given, Parts
from saga_core.assembly.sharing import admission_of, connect, hosting_of, share
from saga_core.capabilities import Capability
from saga_core.catalog import Memory, Sessions, Timelines
from saga_core.config import Config, Settings
from saga_core.context import RecentContexts
from saga_core.counters import Counters
from saga_core.errors import LeaseLost, NewerSchema, StoreCorrupt, StoreError, StoreLocked
from saga_core.hosting import Admission, WriteRights
from saga_core.jobs import (
    Backfill,
    Background,
    BackgroundBills,
    CollectionJob,
    ForgettingJob,
    PersonasJob,
    ReviewsJob,
    VectorsJob,
)
from saga_core.journal import Journal
from saga_core.maintenance import Maintenance, Tools
from saga_core.play import Prompting
from saga_core.storage import SelfHealingStore, Stores, make_private_once, notice_change, open_stores
from saga_core.stores import GraphStore, VectorStore
from saga_core.transcript import Matcher
from saga_core.views import Views
from saga_core.world import WorldLibrary, default_roots

log = logging.getLogger("saga")


async def assemble(config: Config, given: Given) -> Parts:
    """Open the stores of ``config`` and build the engine. Raises ``StoreError`` and ``BadInput`` with all closed."""
    counters = Counters()
    async with AsyncExitStack() as stack:
        # Never set aside damaged files that other processes have open.
        mend = given.resume and not (given.hosting is not None and given.hosting.one_machine)
        stores = await open_stores(
            config, counters, stores=given.stores, embedder=given.embedder, mend=mend, tolerant=given.tolerant
        )
        stack.push_async_callback(stores.aclose)
        hosting = await hosting_of(given, stores)
        rights = share(config, given, hosting, stores, counters)
        journal, whole = await _open_journal(config, stores, counters, given)
        base = Foundations(Settings(config), given, stores, journal, counters)
        admission = admission_of(base, hosting, rights)
        parts = await _build(base, rights, admission)
        if admission is not None:
            stack.push_async_callback(admission.aclose)
            if whole:
                await _read_keys(admission, given, counters)
        stack.push_async_callback(parts.supervisor.aclose, 0.0)
        if given.resume and whole:
            if rights is not None:
                await rights.start()
            if admission is not None:
                await admission.start()
            try:
                await make_private_once(stores, config)
                await _take_up(parts)
            except StoreCorrupt as error:
                if not given.tolerant:
                    raise
                counters.degrade("background", f"what waited is not taken up: {error}")
        stack.pop_all()
        return parts
    raise AssertionError("unreachable")  # the exit stack swallows nothing; for the type checker


async def _read_keys(admission: Admission, given: Given, counters: Counters) -> None:
    """Read the API keys before the first request."""
    try:
        await admission.read()
    except StoreError as error:
        if not given.tolerant:
            raise
        counters.degrade("access", f"the keys cannot be read: {error}")


async def _open_journal(config: Config, stores: Stores, counters: Counters, given: Given) -> tuple[Journal, bool]:
    """Return the journal, and whether it can be read and written."""
    try:
        journal = Journal(stores.state, counters)
        await journal.open()
        await notice_change(stores, counters, config.data_dir, act=given.resume)
    except StoreError as error:
        if not given.tolerant or isinstance(error, NewerSchema | StoreLocked):
            raise
        return Journal(stores.state, counters), False
    return journal, True


async def _build(base: Foundations, rights: WriteRights | None, admission: Admission | None) -> Parts:
    """Build all parts."""
    config, clock, counters = base.settings.config, base.given.clock, base.counters
    worlds, contexts = WorldLibrary(default_roots(config.base)), RecentContexts()
    bills = BackgroundBills(base.settings, base.ledger, base.live, base.locks, base.ids, clock, counters)
    reviewers = await open_curators(
        config, base.stores, counters, base.given.curator, base.foreground, bills, base.given.reviewer
    )
    learning = await build_learning(base, bills)
    reader = await build_reader(base, learning.sources)
    extraction = build_extraction(base, bills)
    forgetting = ForgettingJob(reviewers.curators, base.stores.state, counters)
    reviews = build_reviews(base, reviewers, learning, extraction, forgetting)
    vectors = VectorsJob(
        projector=base.projector, journal=base.journal, live=base.live, locks=base.locks, counters=counters
    )
    matcher = Matcher(base.journal, base.live.tree)
    prompting, turn_bills = build_prompting(base)
    sessions = Sessions(
        settings=base.settings,
        worlds=worlds,
        directory=base.directory,
        live=base.live,
        journal=base.journal,
        ledger=base.ledger,
        projector=base.projector,
        supervisor=base.supervisor,
        letting_go=reviews.letting_go,
        silent=base.silent,
        ids=base.ids,
        clock=clock,
        counters=counters,
    )
    personas = PersonasJob(base.live, base.supervisor, base.views, base.ids, counters)
    collection = CollectionJob(sessions.collect, base.settings, clock, counters)
    # Ordered by dependency.
    for job in (base.views, extraction, personas, reviews, forgetting, vectors, collection):
        base.supervisor.add(job)
    base.views.followers += [extraction, personas, reviews, vectors]
    play = build_play(base, worlds, matcher, reader, prompting, turn_bills, contexts, extraction)
    if admission is not None:
        play.places.keyed = lambda: admission.keyed
    if rights is not None:
        connect(rights, base, prompting, matcher)
        play.pin, play.places.own = rights.pin, rights.own
    return Parts(
        settings=base.settings,
        stores=base.stores,
        worlds=worlds,
        journal=base.journal,
        counters=counters,
        live=base.live,
        reader=reader,
        prompting=prompting,
        matcher=matcher,
        supervisor=base.supervisor,
        projector=base.projector,
        clock=clock,
        ids=base.ids,
        rights=rights,
        admission=admission,
        play=play,
        sessions=sessions,
        timelines=Timelines(
            sessions=sessions,
            directory=base.directory,
            live=base.live,
            journal=base.journal,
            projector=base.projector,
            locks=base.locks,
            letting_go=reviews.letting_go,
            contexts=contexts,
            clock=clock,
            counters=counters,
        ),
        views=Views(
            directory=base.directory,
            live=base.live,
            journal=base.journal,
            graph_store=base.stores.graph,
            cache=base.stores.cache,
            projector=base.projector,
            supervisor=base.supervisor,
            reader=reader,
            contexts=contexts,
            shared=base.shared,
            front=prompting.pages_at,
            settings=base.settings,
            authored=prompting.texts.of_world,
        ),
        memory=Memory(
            directory=base.directory,
            live=base.live,
            shared=base.shared,
            supervisor=base.supervisor,
            ids=base.ids,
            clock=clock,
            counters=counters,
        ),
        maintenance=_maintenance(base, sessions, reviews, vectors, prompting, contexts, rights, admission),
        background=Background(
            supervisor=base.supervisor,
            foreground=base.foreground,
            directory=base.directory,
            journal=base.journal,
            views=base.views,
            extraction=extraction,
            reviews=reviews,
            vectors=vectors,
            forgetting=forgetting,
            silent=base.silent,
            backfill=Backfill(
                settings=base.settings,
                directory=base.directory,
                supervisor=base.supervisor,
                extraction=extraction,
                ledger=base.ledger,
            ),
        ),
    )


def _maintenance(
    base: Foundations,
    sessions: Sessions,
    reviews: ReviewsJob,
    vectors: VectorsJob,
    prompting: Prompting,
    contexts: RecentContexts,
    rights: WriteRights | None,
    admission: Admission | None,
) -> Maintenance:
    def forget_at_hand() -> None:
        contexts.clear()
        prompting.forget()

    async def finish_views(seconds: float) -> None:
        await base.supervisor.drain(seconds, base.views, vectors)

    return Maintenance(
        Tools(
            settings=base.settings,
            stores=base.stores,
            journal=base.journal,
            worlds=sessions.worlds,
            directory=base.directory,
            live=base.live,
            projector=base.projector,
            supervisor=base.supervisor,
            ids=base.ids,
            clock=base.given.clock,
            counters=base.counters,
            queued=base.views.queued,
            finish_views=finish_views,
            delete=sessions.delete,
            own=rights.own if rights is not None else None,
            import_entries=admission.import_entries if admission is not None else lambda owner, session: {},
            letting_go=reviews.letting_go,
            forget_at_hand=forget_at_hand,
        )
    )


async def _take_up(parts: Parts) -> None:
    """Resume pending work, and render views again if they are missing."""
    stores, journal = parts.stores, parts.journal
    healing = [store for store in stores.all().values() if isinstance(store, SelfHealingStore)]

    async def render_all() -> None:
        parts.projector.forget_lore()
        for session in await journal.sessions():
            try:
                await journal.add_jobs(session.id, [session.head or session.root])
            except LeaseLost:
                continue  # another server has taken the session and renders it
            parts.background.views.submit(session.id, [session.head or session.root])

    for store in healing:
        store.renewed = render_all
    if any(store.fresh for store in healing) or await _lost(stores, parts.counters, journal):
        await render_all()
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
