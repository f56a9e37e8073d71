"""Builds the background jobs from the configuration."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from saga_core.assembly.curators import Reviewers
from saga_core.assembly.foundations import Foundations
from saga_core.capabilities import Capability
from saga_core.config import Config
from saga_core.context import (
    ContextReader,
    ContextSource,
    default_reader,
    open_plugin_source,
    own_sources,
    plugin_source,
)
from saga_core.jobs import BackgroundBills, ExtractionJob, ForgettingJob, Pace, ReviewsJob
from saga_core.stores import Curator

log = logging.getLogger("saga")


@frozen
class Learning:
    """The learners, paces and sources of the configured memory strategies; empty without any."""

    learners: Sequence[Curator] = ()
    paces: Mapping[str, Pace] = field(factory=dict)
    sources: Sequence[ContextSource] = ()


def build_extraction(base: Foundations, bills: BackgroundBills) -> ExtractionJob:
    """Build the job that reads unreported turns."""
    config = base.settings.config
    automatic = base.given.extractor is None
    chat = base.given.automatic if automatic else base.given.extractor
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
    job = ExtractionJob(
        extractor=extractor,
        automatic=automatic,
        asks=config.extraction.review == "ask",
        at_head=automatic and config.extraction.automatic == "local",
        live=base.live,
        journal=base.journal,
        views=base.views,
        supervisor=base.supervisor,
        foreground=base.foreground,
        ids=base.ids,
        counters=base.counters,
        bills=bills,
    )
    base.silent.who_reads = job.reader
    return job


def build_reviews(
    base: Foundations, reviewers: Reviewers, learning: Learning, extraction: ExtractionJob, forgetting: ForgettingJob
) -> ReviewsJob:
    """Build the job for reviews by curators and memory strategies."""
    config = base.settings.config
    return ReviewsJob(
        curators=(*reviewers.curators, *learning.learners),
        live=base.live,
        views=base.views,
        extraction=extraction,
        supervisor=base.supervisor,
        foreground=base.foreground,
        ids=base.ids,
        clock=base.given.clock,
        counters=base.counters,
        interval=config.curator.interval,
        blocks=config.curator.memory_block_schema,
        stand_ins=reviewers.stand_ins,
        remote=forgetting,
        paces=learning.paces,
        asking=_asking(config, reviewers),
        shared=base.shared,
        count=base.stores.counter.count,
    )


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


async def build_reader(base: Foundations, more: Sequence[ContextSource]) -> ContextReader:
    """Build the reader with ``more`` sources and those of other packages, which are closed with the stores."""
    config = base.settings.config
    taken, guests = {source.name for source in (*own_sources(config), *more)}, [*more]
    for name in config.recall.sources:
        guest = await open_plugin_source(name, config, taken)
        guests.append(guest)
        base.stores.keep(guest)
    for name, source in base.given.sources.items():
        guests.append(plugin_source(f"sources[{name!r}]", name, source, {each.name for each in guests} | taken))
    return default_reader(
        config,
        base.stores.counter,
        clock=base.given.clock,
        vectors=base.stores.vector,
        embedder=base.stores.embedder,
        guests=guests,
    )


async def build_learning(base: Foundations, bills: BackgroundBills) -> Learning:
    """Build the learners, paces and sources of the memory strategies, if any are configured."""
    config = base.settings.config
    if not config.memory_strategies:
        return Learning()
    from saga_core.assembly.learners import Models, make_learners, open_strategies, paces_of, source_of  # if wanted

    strategies = await open_strategies(config)
    models = Models(config, base.given.curator, base.given.extractor)
    learners = make_learners(strategies, models, base.stores, base.counters, base.foreground, bills, base.given.clock)
    return Learning(learners, paces_of(config), source_of(strategies))
