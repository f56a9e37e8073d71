"""``saga doctor``: looks at everything that a server needs, and at how well a narrator reports."""

from __future__ import annotations

from saga_server.doctor.examination import examine, examine_narrator

__all__ = [
    "examine",
    "examine_narrator",
]
