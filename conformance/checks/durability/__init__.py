"""Checks that data survives the end of the process, a crash, a full disk and access under another name."""

from __future__ import annotations

from conformance.checks.durability import crashes, durability, elsewhere

__all__ = ["crashes", "durability", "elsewhere"]
