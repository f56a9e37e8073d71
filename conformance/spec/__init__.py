"""The contract: what a store of each kind owes, as numbered clauses. The pages lie in this folder."""

from __future__ import annotations

from conformance.spec.contract import CONTRACT_VERSION, KINDS, PAGES, STORED, Clause, clauses

__all__ = ["CONTRACT_VERSION", "KINDS", "PAGES", "STORED", "Clause", "clauses"]
