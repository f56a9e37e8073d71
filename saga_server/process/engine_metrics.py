"""The engine's counters as Prometheus metrics, read at each scrape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_OUTCOMES = ("done", "skipped", "retries", "failures", "late")
"""Outcomes of extraction: read, not worth reading, retried, given up for now, and late for a request."""


@define(eq=False)
class EngineMetrics(Collector):
    """Exports ``status``, the result of ``Saga.status()``, which is set before each scrape."""

    status: Mapping[str, Any] = field(factory=dict)
    open_requests: int = 0

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics with a name of their own, and then all numbers of the status, labelled with their path."""
        counts: Mapping[str, int] = self.status.get("counters", {})
        yield _counter("saga_extraction", "Turns for the extraction model, by outcome", "outcome", {
            outcome: counts.get(f"extraction.{outcome}", 0) for outcome in _OUTCOMES
        })  # fmt: skip
        yield _counter(
            "saga_blocks", "State blocks of replies, by how they could be read", "status", _below(counts, "block")
        )
        yield _counter("saga_late", "Sources of context that were left out of a turn", "source", _below(counts, "late"))
        yield _counter("saga_problems", "What replies reported and cannot be", "", {"": counts.get("problems", 0)})
        yield _counter("saga_degraded_times", "Times that something was degraded", "mode", _below(counts, "degraded"))
        degraded = dict.fromkeys(self.status.get("degraded", {}), 1)
        yield _gauge("saga_degraded", "The degraded modes in force", "mode", degraded)
        work = self.status.get("work", {})
        waiting = {
            "views": work.get("queued", 0),
            "extraction": sum(each["waiting"] for each in self.status.get("backfill", {}).values()),
            "failed": len(work.get("failed", ())),
        }
        yield _gauge("saga_queue", "Turns whose background work is not done", "kind", waiting)
        yield _gauge("saga_chat_open", "Chat requests that are being answered", "", {"": self.open_requests})
        numbers = {name: self.status.get(name, {}) for name in ("stores", "sessions", "work", "counters")}
        numbers["degraded"] = len(degraded)
        yield _gauge("saga_engine", "The engine's own counts", "name", dict(_numbers("", numbers)))


def _below(counts: Mapping[str, int], group: str) -> dict[str, int]:
    return {name.removeprefix(f"{group}."): count for name, count in counts.items() if name.startswith(f"{group}.")}


def _counter(name: str, told: str, label: str, values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(name, told, labels=[label] if label else [])
    for value, count in values.items():
        family.add_metric([value] if label else [], count)
    return family


def _gauge(name: str, told: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, told, labels=[label] if label else [])
    for value, count in values.items():
        family.add_metric([value] if label else [], count)
    return family


def _numbers(path: str, value: Any) -> list[tuple[str, float]]:
    if isinstance(value, Mapping):
        return [pair for key, entry in value.items() for pair in _numbers(f"{path}.{key}" if path else str(key), entry)]
    if isinstance(value, bool | int | float):
        return [(path, float(value))]
    return []
