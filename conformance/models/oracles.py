"""The oracle of each kind of store, and its answer to a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.assertions import Refused
from conformance.calls import Call
from conformance.models.cache import CacheModel
from conformance.models.graph import GraphModel
from conformance.models.refusal import Refusal
from conformance.models.state import StateModel
from conformance.models.vector import VectorModel

Model = Any

MODELS: dict[str, Callable[[], Model]] = {
    "state": StateModel,
    "graph": GraphModel,
    "vector": VectorModel,
    "cache": CacheModel,
}


def expected(model: Model, made: Call) -> object:
    """Make the call ``made`` on ``model`` and return its answer, or a ``Refused``."""
    try:
        return getattr(model, made.method)(*made.args, **made.options)
    except Refusal as refusal:
        return Refused(refusal.error, refusal.key)
