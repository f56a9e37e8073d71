"""Durability: what outlives the process, a crash, a full disk and a move."""

from __future__ import annotations

from conformance.checks.durability import crashes, durability, elsewhere

__all__ = ["crashes", "durability", "elsewhere"]
