"""SAGA's core: memory for long role-play, independent of any engine, server or provider.

``Saga.open`` gives the engine; ``saga_core.stores`` has the protocols that a backend implements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saga_core.capabilities import Capability
from saga_core.errors import (
    BadInput,
    Closed,
    ConfigError,
    Conflict,
    NewerSchema,
    NotFound,
    NotSupported,
    SagaError,
    ScopeMismatch,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreUnavailable,
    UpstreamError,
)

if TYPE_CHECKING:
    from saga_core.assembly import warm_up_steps
    from saga_core.background import DrainReport, Waiting
    from saga_core.catalog import Comparison, Pruned, SessionSummary
    from saga_core.config import Config, load_config
    from saga_core.context import TurnContext
    from saga_core.messages import PromptPlan
    from saga_core.model import Delta, Session, Timeline, Turn, TurnKind, WorldState
    from saga_core.play import PendingTurn, Reply
    from saga_core.ports import ChatModel, ChatRequest, Clock, Embedder, Entropy, TokenCounter
    from saga_core.registry import Backend, OpenOptions
    from saga_core.saga import Saga
    from saga_core.state_block import BlockFilter, read_reply
    from saga_core.world import World, WorldLibrary

CONTRACT_VERSION = "1.4"
"""The version of the store protocols and their clauses. The second number grows whenever a clause is added or made
stricter."""

_LAZY = {
    "Backend": "saga_core.registry",
    "PendingTurn": "saga_core.play.pending_turn",
    "BegunTurn": "saga_core.play.pending_turn",
    "BlockFilter": "saga_core.state_block",
    "ChatModel": "saga_core.ports",
    "ChatRequest": "saga_core.ports",
    "Clock": "saga_core.ports",
    "Comparison": "saga_core.catalog.timelines",
    "Config": "saga_core.config",
    "Delta": "saga_core.model.tree",
    "DrainReport": "saga_core.background",
    "Embedder": "saga_core.ports",
    "Entropy": "saga_core.ports",
    "OpenOptions": "saga_core.registry",
    "PromptPlan": "saga_core.messages",
    "Pruned": "saga_core.catalog.timelines",
    "Reply": "saga_core.play.pending_turn",
    "Saga": "saga_core.saga",
    "Session": "saga_core.model.tree",
    "SessionSummary": "saga_core.catalog.sessions",
    "Timeline": "saga_core.model.tree",
    "TokenCounter": "saga_core.ports",
    "Turn": "saga_core.model.tree",
    "TurnContext": "saga_core.context",
    "TurnKind": "saga_core.model.tree",
    "Waiting": "saga_core.background",
    "World": "saga_core.world",
    "WorldLibrary": "saga_core.world",
    "WorldState": "saga_core.model.world_state",
    "load_config": "saga_core.config",
    "read_reply": "saga_core.state_block",
    "warm_up_steps": "saga_core.assembly.warm_up",
}
"""The module of each name that is imported at its first use. A backend that needs only the stores loads no more."""

__all__ = [
    "CONTRACT_VERSION",
    "Backend",
    "BadInput",
    "BlockFilter",
    "Capability",
    "ChatModel",
    "ChatRequest",
    "Clock",
    "Closed",
    "Comparison",
    "Config",
    "ConfigError",
    "Conflict",
    "Delta",
    "DrainReport",
    "Embedder",
    "Entropy",
    "NewerSchema",
    "NotFound",
    "NotSupported",
    "OpenOptions",
    "PendingTurn",
    "PromptPlan",
    "Pruned",
    "Reply",
    "Saga",
    "SagaError",
    "ScopeMismatch",
    "Session",
    "SessionSummary",
    "StoreCorrupt",
    "StoreError",
    "StoreLocked",
    "StoreUnavailable",
    "Timeline",
    "TokenCounter",
    "Turn",
    "TurnContext",
    "TurnKind",
    "UpstreamError",
    "Waiting",
    "World",
    "WorldLibrary",
    "WorldState",
    "load_config",
    "read_reply",
    "warm_up_steps",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'saga_core' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
