"""Builds play and the parts that make its prompts."""

from __future__ import annotations

import logging

from saga_core.assembly.foundations import Foundations
from saga_core.context import ContextReader, RecentContexts
from saga_core.jobs import ExtractionJob, TurnWork
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
)
from saga_core.sessions import OtherSessions
from saga_core.transcript import Matcher
from saga_core.world import WorldLibrary

log = logging.getLogger("saga")


def build_prompting(base: Foundations) -> tuple[Prompting, TurnBills]:
    """Build the parts that make the prompts of turns and their bills."""
    counter, clock = base.stores.counter, base.given.clock
    memories = PromptMemories(base.stores.state, base.counters)
    models = NarratorModels(base.settings, memories)
    prompting = Prompting(
        settings=base.settings,
        models=models,
        memories=memories,
        texts=PrefixTexts(base.settings.config.token_budget, counter, memories),
        ledger=base.ledger,
        counter=counter,
        counters=base.counters,
    )
    bills = TurnBills(
        models=models,
        memories=memories,
        ledger=base.ledger,
        counter=counter,
        clock=clock,
        counters=base.counters,
    )
    return prompting, bills


def build_play(
    base: Foundations,
    worlds: WorldLibrary,
    matcher: Matcher,
    reader: ContextReader,
    prompting: Prompting,
    bills: TurnBills,
    contexts: RecentContexts,
    extraction: ExtractionJob,
) -> Play:
    """Build the part that begins turns."""
    clock, counters, work = base.given.clock, base.counters, TurnWork(base.views, extraction)
    open_calls = OpenCalls()
    return Play(
        settings=base.settings,
        worlds=worlds,
        places=Places(
            settings=base.settings,
            directory=base.directory,
            live=base.live,
            journal=base.journal,
            locks=base.locks,
            matcher=matcher,
            ids=base.ids,
            clock=clock,
            counters=counters,
            open_calls=open_calls,
        ),
        reading=ContextReading(
            settings=base.settings,
            reader=reader,
            graph=base.stores.graph,
            projector=base.projector,
            supervisor=base.supervisor,
            shared=base.shared,
            others=OtherSessions(settings=base.settings, journal=base.journal, live=base.live, counters=counters),
            counters=counters,
        ),
        prompting=prompting,
        recorder=Recorder(
            live=base.live,
            journal=base.journal,
            locks=base.locks,
            memories=prompting.memories,
            bills=bills,
            work=work,
            silent=base.silent,
            ids=base.ids,
            clock=clock,
            counters=counters,
            open_calls=open_calls,
        ),
        contexts=contexts,
        work=work,
        silent=base.silent,
        foreground=base.foreground,
        locks=base.locks,
        ids=base.ids,
        clock=clock,
        counters=counters,
    )
