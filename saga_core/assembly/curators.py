"""Chooses the curators: always the rules, another one if configured, and a stand-in for it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from saga_core import registry
from saga_core.background import Foreground
from saga_core.config import Config
from saga_core.counters import Counters
from saga_core.errors import StoreUnavailable
from saga_core.jobs import BackgroundBills
from saga_core.ports import ChatModel, UsagePart
from saga_core.registry import OpenOptions
from saga_core.storage import Stores
from saga_core.stores import Curator
from saga_core.stores.validate import check_store

log = logging.getLogger("saga.curation")

RULES = "rules"
BY_MODEL = "blocks"
"""The curator that is used if there is a curator model and no curator is named."""
ASKING = ("blocks", "direct")
"""Curators that ask a model."""
ELSEWHERE = ("letta",)
"""Curators that ask their own server, which may use any model."""


@frozen
class Reviewers:
    """The curators in order, and the stand-ins, by the name of the curator that they replace if it cannot review."""

    curators: tuple[Curator, ...] = ()
    stand_ins: Mapping[str, Curator] = field(factory=dict)


async def open_curators(
    config: Config,
    stores: Stores,
    counters: Counters,
    chat: ChatModel | None,
    foreground: Foreground,
    bills: BackgroundBills,
    reviewer: Curator | None = None,
) -> Reviewers:
    """Open the curators, which are closed with the stores. None if ``curator.enabled`` is false.

    A ``reviewer``, which the caller closes, takes the place of the configured curator.

    A curator that needs a model and has none, or whose engine is not installed, is left out and reported as a degraded
    mode. If a curator model is set, ``blocks`` is the stand-in for a curator that asks its own server. Raises
    ``BadInput`` for a curator that is not registered.
    """
    if not config.curator.enabled:
        return Reviewers()
    wanted = config.curator.backend or (BY_MODEL if chat is not None else RULES)
    rules: dict[str, Any] = {"compress_after": config.curator.compress_story_after_turns}
    given = dict(config.curator.options)
    opened = [await _open(stores, RULES, {**rules, **(given if wanted == RULES else {})})]
    if reviewer is not None:
        return Reviewers((*opened, reviewer))
    name = "" if chat is None else chat.name
    model = config.models.curator or name

    async def paid(part: UsagePart, session: str, turn: str) -> None:
        await bills.enter("curation", session, turn, part, model)

    shared = {
        "count": stores.counter.count,
        "blocks": config.curator.memory_block_schema,
        "report": counters.add,
        "paid": paid,
    }
    asking: dict[str, Any] = {}
    if chat is not None:
        asking = {**shared, "chat": chat, "model": model, "before_call": lambda: foreground.wait_until_free(name)}
    if wanted in ASKING and not asking:
        reason = "no model: set models.curator and a provider for it; the rules review alone"
        counters.degrade(f"curation.{wanted}", reason)
    elif wanted in ASKING:
        opened.append(await _open(stores, wanted, {**asking, **given}))
    elif wanted in ELSEWHERE:
        stand_in = await _open(stores, BY_MODEL, asking) if asking else None
        try:
            server = await _open(
                stores, wanted, {**shared, "before_call": lambda: foreground.wait_until_free(""), **given}
            )
        except StoreUnavailable as error:
            instead = f"{BY_MODEL} reviews instead" if stand_in is not None else "the rules review alone"
            counters.degrade(f"curation.{wanted}", f"{error}; {instead}")
            return Reviewers((*opened, *([stand_in] if stand_in is not None else [])))
        return Reviewers((*opened, server), {wanted: stand_in} if stand_in is not None else {})
    elif wanted != RULES:
        opened.append(await _open(stores, wanted, given))
    return Reviewers(tuple(opened))


async def _open(stores: Stores, name: str, options: dict[str, Any]) -> Curator:
    curator: Curator = await registry.open_plugin(
        "curator", name, OpenOptions(options=options), at="curator.backend", options_at="curator."
    )
    check_store(f"curator.backend: {name}", "curator", curator)
    stores.keep("curator.backend", curator)
    return curator
