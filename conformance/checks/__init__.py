"""The checks of the clauses, grouped by topic. Importing a package registers its checks.

The id of a check consists of its module and its function: ``state.scan_in_order`` is in ``operations/state.py``.
"""

from __future__ import annotations

from conformance.checks import concurrency, durability, lifecycle, operations, scale, validation

__all__ = ["concurrency", "durability", "lifecycle", "operations", "scale", "validation"]
