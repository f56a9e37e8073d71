"""Counters and degraded modes: counted each time, told when they begin and when they end."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from saga_core.counters import Counters


@pytest.fixture
def heard() -> list[tuple[str, Mapping[str, Any]]]:
    return []


@pytest.fixture
def counters(heard: list[tuple[str, Mapping[str, Any]]]) -> Counters:
    return Counters(listeners=[lambda event, about: heard.append((event, dict(about)))])


def test_counts_add_up(counters: Counters) -> None:
    counters.add("turns")
    counters.add("turns", 2)
    assert counters.counts == {"turns": 3}


def test_every_listener_is_told(counters: Counters, heard: list[Any]) -> None:
    counters.listeners.append(counters.listeners[0])
    counters.emit("recorded", turn="t1")
    assert heard == [("recorded", {"turn": "t1"})] * 2


def test_a_degraded_mode_is_counted_each_time_and_told_when_its_reason_changes(
    counters: Counters, heard: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    for reason in ("away", "away", "디스크가 가득 찼다"):
        counters.degrade("graph", reason)
    assert counters.counts["degraded.graph"] == 3
    assert counters.degraded == {"graph": "디스크가 가득 찼다"}
    assert [about["reason"] for _, about in heard] == ["away", "디스크가 가득 찼다"]
    assert [each.getMessage() for each in caplog.records] == [
        "degraded: graph: away",
        "degraded: graph: 디스크가 가득 찼다",
    ]


def test_it_ends_once(counters: Counters, heard: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "saga")
    counters.recover("graph")
    assert heard == []
    counters.degrade("graph", "away")
    counters.recover("graph")
    counters.recover("graph")
    assert heard[1:] == [("recovered", {"name": "graph"})] and counters.degraded == {}
    assert caplog.messages[-1] == "recovered: graph" and caplog.messages.count("recovered: graph") == 1
    counters.degrade("graph", "away")
    assert len(heard) == 3, "the same reason is news again"
