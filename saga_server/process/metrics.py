"""The Prometheus metrics of a server: its own, the engine's counters, and the rounds of the event loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

from attrs import define, field
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from saga_core.billing import Bill
from saga_core.play import PendingTurn
from saga_core.ports import Usage
from saga_server.process.event_loop import BUCKETS, LoopWatch

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


def _family(
    kind: type[CounterMetricFamily | GaugeMetricFamily], name: str, told: str, label: str, values: Mapping[str, float]
) -> Metric:
    family = kind(name, told, labels=[label] if label else [])
    for value, count in values.items():
        family.add_metric([value] if label else [], count)
    return family


_counter, _gauge = partial(_family, CounterMetricFamily), partial(_family, GaugeMetricFamily)


def _numbers(path: str, value: Any) -> list[tuple[str, float]]:
    if isinstance(value, Mapping):
        return [pair for key, entry in value.items() for pair in _numbers(f"{path}.{key}" if path else str(key), entry)]
    if isinstance(value, bool | int | float):
        return [(path, float(value))]
    return []


_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
ADJUSTABLE = frozenset(
    "temperature top_p top_k min_p stop seed presence_penalty frequency_penalty repetition_penalty logit_bias logprobs "
    "max_tokens thinking prefill system content".split()
)
"""Parameters that are counted by name. All others are counted together."""
_OF_ALL = ("gather", "pack", "total")
"""Names in the context timings that are not sources."""
_SECONDS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120)


class Metrics:
    """The metrics of one server, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._engine = EngineMetrics()
        with_labels: dict[str, Any] = {"registry": self.registry}
        self.requests = Counter("saga_chat_requests", "Chat requests by how they ended", ["end"], **with_labels)
        self.context_ms = Histogram("saga_context_ms", "Reading of a turn, ms", buckets=_MS, **with_labels)
        self.first_part = Histogram(
            "saga_upstream_first_seconds", "Until upstream's first part, s", buckets=_SECONDS, **with_labels
        )
        self.tokens = Counter(
            "saga_upstream_tokens", "Tokens as the provider bills them", ["kind", "purpose"], **with_labels
        )
        self.dollars = Counter(
            "saga_dollars",
            "US dollars: spent, the same without a cache, and without SAGA",
            ["bill", "purpose"],
            **with_labels,
        )
        self.commits = Counter("saga_commits", "Turns recorded, or not", ["result"], **with_labels)
        self.adjusted = Counter(
            "saga_upstream_adjusted", "Parameters that a model does not take, left out", ["name"], **with_labels
        )
        self.fallbacks = Counter("saga_upstream_fallbacks", "Narrations by the next model in line", **with_labels)
        self.asked_again = Counter("saga_narrations_asked_again", "Replies that told no story", **with_labels)
        self.malformed = Counter("saga_http_malformed", "Requests that could not be read as HTTP", **with_labels)
        self.reloads = Counter("saga_reloads", "Settings read again: applied or refused", ["result"], **with_labels)
        self.step_ms = Histogram("saga_read_step_ms", "Steps of reading, ms", ["step"], buckets=_MS, **with_labels)
        self.source_ms = Histogram(
            "saga_source_ms", "Each source of context, until it answered or was given up, ms", ["source"],
            buckets=_MS, **with_labels,
        )  # fmt: skip
        self.registry.register(self._engine)

    def used(self, usage: Usage) -> None:
        """Count the tokens of a narration."""
        for kind in ("input", "output", "cache_read", "cache_write"):
            self.tokens.labels(kind, "narration").inc(getattr(usage, kind))

    def spent(self, bill: Bill | None) -> None:
        """Count the dollars of a turn's bill."""
        if bill is not None:
            self._dollars(bill.purpose, bill.dollars, bill.uncached, bill.without)

    def hear(self, event: str, about: Mapping[str, Any]) -> None:
        """Listen to the engine's counters, and count the tokens and dollars of model calls other than narration."""
        if event != "billed":
            return
        for kind, name in (
            ("input", "input"),
            ("output", "output"),
            ("cache_read", "read"),
            ("cache_write", "written"),
        ):
            self.tokens.labels(kind, about["purpose"]).inc(about[name])
        self._dollars(about["purpose"], about["dollars"], about["uncached"], None)

    def _dollars(self, purpose: str, spent: float | None, uncached: float | None, without: float | None) -> None:
        for name, dollars in (("spent", spent), ("uncached", uncached), ("without", without)):
            if dollars is not None:
                self.dollars.labels(name, purpose).inc(max(0.0, dollars))

    def read(self, begun: PendingTurn) -> None:
        """Observe how long reading a turn took: the whole, each step, and each source of context."""
        for step, taken in begun.timings.items():
            if step == "total":
                self.context_ms.observe(taken)
            else:
                self.step_ms.labels(step).observe(taken)
        for source, taken in begun.context.timings.items():
            if source not in _OF_ALL:
                self.source_ms.labels(source).observe(taken)

    def render(self, status: Mapping[str, Any], open_requests: int = 0) -> bytes:
        """Return all metrics in the text format. ``status`` is the status of the engine."""
        self._engine.status, self._engine.open_requests = status, open_requests
        return generate_latest(self.registry)


# -- Prometheus metrics about the rounds of the event loop -----------------------------------------------------


@define(eq=False)
class LoopMetrics(Collector):
    """Exports how long the rounds of the event loop took. Callbacks that became ready meanwhile had to wait."""

    watch: LoopWatch

    def collect(self) -> Iterable[Metric]:
        """Return the histogram of rounds and the longest round, in wall-clock and CPU time, and the count of blocks."""
        rounds = HistogramMetricFamily("saga_loop_round_ms", "Rounds of the event loop, ms", labels=["clock"])
        longest = GaugeMetricFamily("saga_loop_longest_ms", "The longest round since the start, ms", labels=["clock"])
        for clock, found in (("wall", self.watch.wall), ("cpu", self.watch.cpu)):
            bounds = [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
            buckets = list(zip(bounds, map(float, accumulate(found.counts)), strict=True))
            rounds.add_metric([clock], buckets, found.total)
            longest.add_metric([clock], found.longest)
        blocks = CounterMetricFamily("saga_loop_blocks", "Rounds of half a second or longer; the log says where")
        blocks.add_metric([], self.watch.blocks)
        return rounds, longest, blocks
