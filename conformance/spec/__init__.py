"""The contract of each kind of store, as numbered clauses. The pages with the clauses are in this folder."""

from __future__ import annotations

from conformance.spec.contract import CONTRACT_VERSION, KINDS, PAGES, STORED, Clause, clauses

__all__ = ["CONTRACT_VERSION", "KINDS", "PAGES", "STORED", "Clause", "clauses"]
