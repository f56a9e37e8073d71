"""Prometheus metrics about the rounds of the event loop."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from attrs import define
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from saga_server.process.event_loop import BUCKETS, LoopWatch


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
