"""The options of a curator that calls a model."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from saga_core.errors import BadInput
from saga_core.model_calls import MAX_TOKENS, TIMEOUT, CuratorModel
from saga_core.registry import OpenOptions

BLOCKS = ("narrative_summary", "curation_decisions", "contradiction_log")
STEPS = 8


@frozen
class ModelOptions:
    """The validated options."""

    asked: CuratorModel
    count: Callable[[str], int]
    blocks: tuple[str, ...]
    steps: int


async def at_once() -> None:
    """The default ``before_call``, which does not wait."""


def uncounted(name: str, amount: int = 1) -> None:
    """The default ``report``, which does nothing."""


def counted(text: str) -> int:
    """Return a rough token count, for callers without a counter."""
    return len(text) // 3 + 1


def take_model(name: str, options: OpenOptions) -> ModelOptions:
    """Validate the options of the curator ``name``. Raises ``BadInput`` for unknown options and without a model.

    ``chat`` (a ``ChatModel``) is required. ``model`` is the name of the model at the provider. ``count`` returns the
    tokens of a text. ``before_call`` is awaited before each call. ``report`` is called with the name of a counter and
    an amount. ``paid`` is awaited with the usage of each call, the session and the turn.
    """
    found = options.take(
        chat=None,
        model="",
        count=None,
        blocks=None,
        before_call=None,
        report=None,
        paid=None,
        steps=STEPS,
        timeout=TIMEOUT,
        max_tokens=MAX_TOKENS,
    )
    if found["chat"] is None:
        raise BadInput(f"options.chat: the {name} curator asks a model; set models.curator and a provider for it")
    if not 1 <= found["steps"] <= 32:
        raise BadInput(f"options.steps: {found['steps']} is not allowed; give a whole number from 1 to 32")
    asked = CuratorModel(
        found["chat"],
        found["model"] or found["chat"].name,
        found["report"] or uncounted,
        found["before_call"] or at_once,
        float(found["timeout"]),
        found["max_tokens"],
        **({"paid": found["paid"]} if found["paid"] is not None else {}),
    )
    blocks = BLOCKS if found["blocks"] is None else tuple(found["blocks"])
    return ModelOptions(asked, found["count"] or counted, blocks, found["steps"])
