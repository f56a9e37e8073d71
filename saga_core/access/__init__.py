"""Access to a server: API keys made at runtime, their quotas and usage, and the audit log."""

from __future__ import annotations

from saga_core.access.access import Access
from saga_core.access.audit_log import AuditLog
from saga_core.access.begun import uncounted
from saga_core.access.holdings import Holdings
from saga_core.access.keyring import Keyring
from saga_core.access.meter import Meter
from saga_core.access.records import QUOTAS, AuditEntry, KeyRecord, Quotas, Role, read_quotas

__all__ = [
    "QUOTAS",
    "Access",
    "AuditEntry",
    "AuditLog",
    "Holdings",
    "KeyRecord",
    "Keyring",
    "Meter",
    "Quotas",
    "Role",
    "read_quotas",
    "uncounted",
]
