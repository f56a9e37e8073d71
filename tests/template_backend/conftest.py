"""The template's own tests run in its own environment only."""

from __future__ import annotations

collect_ignore = ["project"]
