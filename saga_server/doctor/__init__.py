"""``saga doctor``: checks everything that a server needs, and how well a narrator reports."""

from __future__ import annotations

from saga_server.doctor.examination import examine, examine_narrator
