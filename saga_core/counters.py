"""Counters of events, and the degraded modes that are in force."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

log = logging.getLogger("saga")

Listener = Callable[[str, Mapping[str, Any]], None]
"""A callback that receives the name of an event and its details. It must neither block nor raise."""


@define
class Counters:
    """Counts by name and the degraded modes in force, for ``/api/status`` and ``/metrics``."""

    counts: Counter[str] = field(factory=Counter)
    degraded: dict[str, str] = field(factory=dict)
    """Name of the degraded mode -> reason as text."""
    listeners: list[Listener] = field(factory=list)

    def emit(self, event: str, **about: Any) -> None:
        """Call all listeners with the event."""
        for listener in self.listeners:
            listener(event, about)

    def add(self, name: str, amount: int = 1) -> None:
        """Add ``amount`` to the counter ``name``."""
        self.counts[name] += amount

    def degrade(self, name: str, reason: str) -> None:
        """Enter a degraded mode. It is logged when it begins, counted each time, and visible until ``recover``."""
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
