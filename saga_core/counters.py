"""Counters and degraded modes: what happened how often, and what is currently impaired."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

log = logging.getLogger("saga")

Listener = Callable[[str, Mapping[str, Any]], None]
"""Is told what happened, and about what; must not block, and must not raise."""


@define
class Counters:
    """Plain counts by name, for ``/api/status`` and ``/metrics``, and the degraded modes in force."""

    counts: Counter[str] = field(factory=Counter)
    degraded: dict[str, str] = field(factory=dict)
    """Name of what is degraded -> why, in words."""
    listeners: list[Listener] = field(factory=list)

    def emit(self, event: str, **about: Any) -> None:
        """Tell whoever listens that something happened."""
        for listener in self.listeners:
            listener(event, about)

    def add(self, name: str, amount: int = 1) -> None:
        """Count ``amount`` more of ``name``."""
        self.counts[name] += amount

    def degrade(self, name: str, reason: str) -> None:
        """Enter a degraded mode: logged when it begins, counted each time, visible until ``recover``."""
        self.counts[f"degraded.{name}"] += 1
        if self.degraded.get(name) != reason:
            log.warning("degraded: %s: %s", name, reason)
            self.emit("degraded", name=name, reason=reason)
        self.degraded[name] = reason

    def recover(self, name: str) -> None:
        """Leave a degraded mode."""
        if self.degraded.pop(name, None) is not None:
            log.info("recovered: %s", name)
            self.emit("recovered", name=name)
