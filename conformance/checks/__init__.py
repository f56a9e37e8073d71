"""An example for each clause, by what it is about. Importing a room registers its checks.

A check is called after its module and its function: ``state.scan_in_order`` stands in ``operations/state.py``.
"""

from __future__ import annotations

from conformance.checks import concurrency, durability, lifecycle, operations, scale, validation

__all__ = ["concurrency", "durability", "lifecycle", "operations", "scale", "validation"]
