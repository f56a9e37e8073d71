"""The worker processes of one ``saga serve``, which share a port and the data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.workers.allowed import check_workers
    from saga_server.workers.family import Family
    from saga_server.workers.joint_metrics import OWN_METRICS, metrics_of_all
    from saga_server.workers.worker import Worker

__all__ = ["OWN_METRICS", "Family", "Worker", "check_workers", "metrics_of_all"]

__getattr__ = lazy_face(
    {
        "OWN_METRICS": "saga_server.workers.joint_metrics:OWN_METRICS",
        "Family": "saga_server.workers.family:Family",
        "Worker": "saga_server.workers.worker:Worker",
        "check_workers": "saga_server.workers.allowed:check_workers",
        "metrics_of_all": "saga_server.workers.joint_metrics:metrics_of_all",
    }
)
