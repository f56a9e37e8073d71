"""The results of a load run, as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.bench.load.load import STALL

_MB = 2**20


def faults(found: Mapping[str, Any]) -> list[str]:
    """Every error, and every sign that a chat was mixed up with another."""
    parts = (found[name] for name in ("play", "idle", "soak") if name in found)
    return [line for part in parts for line in (*part["errors"], *part["mixed"])]


def rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The label and the value of each figure."""
    play = found["play"]
    rss, times = play["rss"], play["times"]
    lines = [
        ("turns played", f"{play['turns']:,}"),
        ("errors", f"{len(play['errors'])}"),
        ("states and replies of another chat", f"{len(play['mixed'])}"),
        ("turns without a source of context that was late", f"{play['turns'] - play['late']:,}"),
        *_times("context read", times.get("context")),
        *_times("first text at the player", times.get("first")),
        ("CPU of the server, cores", "-" if play["cpu"] is None else f"{play['cpu']:.2f}"),
        *_rounds(play["rounds"]),
        ("memory before", f"{rss['before'] / _MB:.0f} MB"),
        ("memory, most", f"{rss['peak'] / _MB:.0f} MB"),
        ("memory afterwards", f"{rss['after'] / _MB:.0f} MB"),
    ]
    if "idle" in found:
        lines.append((f"memory with {found['idle']['sessions']} idle chats", f"{found['idle']['rss'] / _MB:.0f} MB"))
    for reading in found.get("soak", {}).get("readings", ()):
        lines.append((f"memory after {reading['turns']:,} turns", f"{reading['rss'] / _MB:.0f} MB"))
    least, most = min(found["calibration"]), max(found["calibration"])
    return [*lines, ("a fixed loop, before and after", f"{least:.1f}, {most:.1f} ms")]


def _times(what: str, found: Mapping[str, float] | None) -> list[tuple[str, str]]:
    if found is None:
        return []
    return [(f"{what}: median, 99 %, most", f"{found['p50']:.0f}, {found['p99']:.0f}, {found['most']:.0f} ms")]


def _rounds(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    words = {"wall": "by the clock", "cpu": "of the processor"}
    return [
        (
            f"rounds of the loop above {STALL:g} ms, the longest, {words[clock]}",
            f"{of['stalls']}, {of['longest']:.0f} ms",
        )
        for clock, of in found.items()
    ]
