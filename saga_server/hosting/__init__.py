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

__getattr__ = lazy_face(__name__)
