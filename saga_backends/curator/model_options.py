"""The options of the curators that ask a model."""

from __future__ import annotations

from typing import Any

from saga_core.errors import BadInput
from saga_core.model_calls import MAX_TOKENS, TIMEOUT, CuratorModel, without_bill
from saga_core.registry import OpenOptions

BLOCKS = ("narrative_summary", "curation_decisions", "contradiction_log")


async def _at_once() -> None:
    """The default ``before_call``, which does not wait."""


def take_options(options: OpenOptions, **own: Any) -> dict[str, Any]:
    """Return the checked options that all curators with a model have, and the ``own`` ones. Raises ``BadInput``.

    ``model`` is the name of the model. ``steps`` is the most calls of a review, and ``timeout`` the seconds of one.
    ``blocks`` are the names of the memory blocks. ``count`` returns the tokens of a text. ``before_call`` is awaited
    before each call. ``report`` is called with the name of a counter and an amount. ``paid`` is awaited with the usage
    of each call, the session and the turn.
    """
    found = options.take(
        model="",
        steps=8,
        timeout=TIMEOUT,
        **dict.fromkeys(("blocks", "count", "before_call", "report", "paid")),
        **own,
    )
    if not 1 <= found["steps"] <= 32:
        raise BadInput(f"options.steps: {found['steps']} is not allowed; give a whole number from 1 to 32")
    found["blocks"] = BLOCKS if found["blocks"] is None else tuple(found["blocks"])
    found["count"] = found["count"] or (lambda text: len(text) // 3 + 1)
    found["before_call"] = found["before_call"] or _at_once
    found["report"] = found["report"] or (lambda name, amount=1: None)
    found["paid"] = found["paid"] or without_bill
    return found


def take_model(name: str, options: OpenOptions) -> tuple[CuratorModel, dict[str, Any]]:
    """Return the model that the curator ``name`` asks, and all its options. Raises ``BadInput`` without a ``chat``."""
    found = take_options(options, chat=None, max_tokens=MAX_TOKENS)
    if found["chat"] is None:
        raise BadInput(f"options.chat: the {name} curator asks a model; set models.curator and a provider for it")
    model = CuratorModel(
        found["chat"],
        found["model"] or found["chat"].name,
        found["report"],
        found["before_call"],
        float(found["timeout"]),
        found["max_tokens"],
        paid=found["paid"],
    )
    return model, found
