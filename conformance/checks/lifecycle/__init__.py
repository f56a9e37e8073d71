"""Checks of description, health, opening, closing and errors, for every kind of store."""

from __future__ import annotations

from conformance.checks.lifecycle import ends, lifecycle

__all__ = ["ends", "lifecycle"]
