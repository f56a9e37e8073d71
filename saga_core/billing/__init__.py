"""The costs of turns, and what they would have been without a cache or without SAGA."""

from __future__ import annotations

from saga_core.billing.bill import PURPOSES, Account, Bill, Purpose, price

__all__ = [
    "PURPOSES",
    "Account",
    "Bill",
    "Purpose",
    "price",
]
