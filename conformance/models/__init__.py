"""Oracles: models of the right answers of each kind of store, on plain lists. They share no code with any backend."""

from __future__ import annotations

from conformance.models.graph import GraphModel
from conformance.models.oracles import MODELS, Model, expected
from conformance.models.vector import passes, score

__all__ = ["MODELS", "GraphModel", "Model", "expected", "passes", "score"]
