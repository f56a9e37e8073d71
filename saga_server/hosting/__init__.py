"""Hosting: SAGA for several users, and several processes or servers on one journal.

API keys with roles, quotas, use and the audit log; leases, which give each session one writer; and the worker processes
of one ``saga serve``. It implements the protocols of ``saga_core.hosting``. A server for one user never imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.hosting.access import Access
    from saga_server.hosting.audit_log import AuditEntry
    from saga_server.hosting.family import Family, check_workers
    from saga_server.hosting.hosting import Hosting
    from saga_server.hosting.joint_metrics import metrics_of_all
    from saga_server.hosting.keys import QUOTAS, KeyRecord, Keyring, Quotas, Role, read_quotas
    from saga_server.hosting.layout import SERVERS
    from saga_server.hosting.leases import LOOK_CLOSELY, Leases
    from saga_server.hosting.liveness import Siblings
    from saga_server.hosting.meter import Taken
    from saga_server.hosting.worker import Worker

_PLACES = {
    "access": ("Access",),
    "audit_log": ("AuditEntry",),
    "family": ("Family", "check_workers"),
    "hosting": ("Hosting",),
    "joint_metrics": ("metrics_of_all",),
    "keys": ("QUOTAS", "KeyRecord", "Keyring", "Quotas", "Role", "read_quotas"),
    "layout": ("SERVERS",),
    "leases": ("LOOK_CLOSELY", "Leases"),
    "liveness": ("Siblings",),
    "meter": ("Taken",),
    "worker": ("Worker",),
}
__all__ = [
    "LOOK_CLOSELY",
    "QUOTAS",
    "SERVERS",
    "Access",
    "AuditEntry",
    "Family",
    "Hosting",
    "KeyRecord",
    "Keyring",
    "Leases",
    "Quotas",
    "Role",
    "Siblings",
    "Taken",
    "Worker",
    "check_workers",
    "metrics_of_all",
    "read_quotas",
]

__getattr__ = lazy_face({name: f"{__name__}.{module}:{name}" for module, names in _PLACES.items() for name in names})
