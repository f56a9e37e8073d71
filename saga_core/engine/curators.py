"""Which curators review: the rules always, and one more as configured."""

from __future__ import annotations

import logging
from typing import Any

from saga_core import registry
from saga_core.config import Config
from saga_core.engine.background_bills import BackgroundBills
from saga_core.engine.counters import Counters
from saga_core.engine.open_stores import Stores
from saga_core.engine.quiet import Quiet
from saga_core.errors import BadInput
from saga_core.ports import ChatModel, UsagePart
from saga_core.registry import OpenOptions
from saga_core.stores.curator import Curator

log = logging.getLogger("saga.curation")

RULES = "rules"
BY_MODEL = "blocks"
"""Who reviews when a curator model is there and no curator is named."""
ASKING = ("blocks", "direct")
"""Curators that ask a model."""


async def open_curators(
    config: Config, stores: Stores, counters: Counters, chat: ChatModel | None, quiet: Quiet, bills: BackgroundBills
) -> tuple[Curator, ...]:
    """The curators that review, in their order; closed with the stores. None when ``curator.enabled`` is false.

    A curator that asks a model and has none is left out, which shows as a degraded mode. Raises ``BadInput`` for a
    curator that nobody registered.
    """
    if not config.curator.enabled:
        return ()
    wanted = config.curator.backend or (BY_MODEL if chat is not None else RULES)
    rules: dict[str, Any] = {"compress_after": config.curator.compress_story_after_turns}
    own = config.curator.options if wanted == RULES else {}
    opened = [await _open(stores, RULES, {**rules, **own})]
    if wanted in ASKING and chat is None:
        reason = "no model: set models.curator and a provider for it; the rules review alone"
        counters.degrade(f"curation.{wanted}", reason)
    elif wanted in ASKING:
        assert chat is not None
        model = config.models.curator or chat.name

        async def paid(part: UsagePart, session: str, turn: str) -> None:
            await bills.enter("curation", session, turn, part, model)

        asking = {
            "chat": chat,
            "model": model,
            "count": stores.counter.count,
            "blocks": config.curator.memory_block_schema,
            "before_call": lambda: quiet.wait(chat.name),
            "report": counters.add,
            "paid": paid,
        }
        opened.append(await _open(stores, wanted, {**asking, **config.curator.options}))
    elif wanted != RULES:
        opened.append(await _open(stores, wanted, dict(config.curator.options)))
    return tuple(opened)


async def _open(stores: Stores, name: str, options: dict[str, Any]) -> Curator:
    try:
        backend = registry.load("curator", name)
    except BadInput as error:
        raise BadInput(f"curator.backend: {error}") from error
    curator: Curator = await backend.open(OpenOptions(options=options))
    stores.keep(curator)
    return curator
