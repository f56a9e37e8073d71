"""What turns cost, and what they would have cost."""

from __future__ import annotations

from saga_core.billing.bill import PURPOSES, Account, Bill, Purpose, price

__all__ = [
    "PURPOSES",
    "Account",
    "Bill",
    "Purpose",
    "price",
]
