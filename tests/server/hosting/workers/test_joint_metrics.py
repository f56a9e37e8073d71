"""One text of what several processes count."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from saga_server.cli.top import _by_name, _processes
from saga_server.hosting.joint_metrics import together


def counted(chats: int, longest: float) -> str:
    registry = CollectorRegistry()
    Gauge("saga_chat_open", "Chats", registry=registry).set(chats)
    Gauge("saga_loop_longest_ms", "Longest", ["clock"], registry=registry).labels("wall").set(longest)
    Counter("saga_commits", "Turns\nor not", ["result"], registry=registry).labels('a "b", c}').inc(chats)
    return generate_latest(registry).decode()


def test_each_sample_says_whose_it_is_and_each_metric_is_described_once() -> None:
    text = together({"w1": counted(2, 5.0), "w2": counted(3, 9.0), "w3": None})
    families = {each.name: each for each in text_string_to_metric_families(text)}
    open_now = {each.labels["worker"]: each.value for each in families["saga_chat_open"].samples}
    assert open_now == {"w1": 2.0, "w2": 3.0}
    up = {each.labels["worker"]: each.value for each in families["saga_worker_up"].samples}
    assert up == {"w1": 1.0, "w2": 1.0, "w3": 0.0}
    totals = [each for each in families["saga_commits"].samples if each.name.endswith("_total")]
    assert {(each.labels["worker"], each.labels["result"]) for each in totals} == {
        ("w1", 'a "b", c}'),
        ("w2", 'a "b", c}'),
    }
    assert text.count("# TYPE saga_chat_open gauge") == 1


def test_top_adds_them_up() -> None:
    metrics = _by_name(together({"w1": counted(2, 5.0), "w2": counted(3, 9.0), "w3": None}))
    assert metrics["saga_chat_open{}"] == 5.0
    assert metrics['saga_loop_longest_ms{clock="wall"}'] == 9.0
    assert _processes(metrics) == [("processes", "w1 2 open, w2 3 open, w3 does not answer")]
    assert _processes(_by_name(counted(1, 1.0))) == []
