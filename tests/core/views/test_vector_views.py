"""Vectors of earlier turns: for an embedder that sees meaning, of every turn, also when it came later."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.errors import StoreUnavailable
from saga_core.play.pending_turn import PendingTurn
from saga_core.ports import Mode
from saga_core.recall.episodes import episodes_scope, spec_of
from saga_core.stores.vector import ScopeSpec
from tests.core.frontend import Frontend, memory_config


def config(data: Path, dimension: int) -> Config:
    return load_config(
        {
            "storage": {"path": str(data)},
            "session": {"default_world": "ersia"},
            "recall": {"options": {"dimension": dimension}},
        }
    )


async def played(saga: Saga, turns: int) -> tuple[Frontend, PendingTurn]:
    """A chat of so many turns, its views drawn, and the last of them."""
    frontend = Frontend(saga, session="모험")
    for number in range(turns):
        await frontend.say(f"{number}번 문을 연다.", f"{number}번 문이 열렸다.")
    await saga.drain(10)
    assert frontend.last is not None
    return frontend, frontend.last


async def test_spelling_needs_no_vectors_of_turns() -> None:
    async with Saga.open(memory_config()) as saga:
        turn = await Frontend(saga).say("숲으로 간다.", "숲은 어둡다.", location="어둠의 숲")
        await saga.drain(10)
        assert await saga.stores.vector.describe(episodes_scope(turn.session.id)) is None
        assert await saga.stores.vector.count(f"lore:{turn.session.digest}") > 0
        assert await saga.maintenance.differences(turn.session.id) == []


async def test_another_embedder_makes_them_all_anew_behind_the_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat: list[dict[str, Any]] = []
    counts: list[int] = []
    late: list[tuple[str, ...]] = []
    steps = ((256, False), (256, True), (64, True), (256, False))
    for dimension, semantic in steps:
        monkeypatch.setattr(NgramEmbedder, "semantic", property(lambda _self, semantic=semantic: semantic))
        async with Saga.open(config(tmp_path, dimension)) as saga:
            frontend = Frontend(saga, session="모험", history=chat)
            turn = await frontend.say(f"{dimension}번째 문을 {semantic} 연다.", "문 뒤에는 또 문이 있었다.")
            late.append(turn.context.late)
            chat = frontend.history
            await saga.drain(10)
            scope = episodes_scope(turn.session.id)
            counts.append(await saga.stores.vector.count(scope))
            made = await saga.stores.vector.describe(scope)
            assert (made.dimension if made is not None else None) == (dimension if semantic else None)
            assert await saga.maintenance.differences(turn.session.id) == []
    assert counts == [0, 2, 3, 0]
    # The fourth had lore of the third at its first turn, and did without; for the third all may have been made by then.
    assert late[:2] == [(), ()] and late[3] == ("vectors.lore",)
    assert set(late[2]) <= {"vectors.episodes", "vectors.lore"}


async def test_what_was_made_half_is_made_whole(tmp_path: Path, sees_meaning: None) -> None:
    async with Saga.open(config(tmp_path, 64)) as saga:
        frontend, turn = await played(saga, 4)
        scope = episodes_scope(turn.session.id)
        there = [item.id for item in await saga.stores.vector.scan(scope)]
        await saga.stores.vector.delete(scope, ids=there[1:3])  # as if the process had ended in between
    async with Saga.open(config(tmp_path, 64)) as saga:
        again = Frontend(saga, session="모험", history=frontend.history)
        await again.say("다시 연다.", "다시 열렸다.")
        await saga.drain(10)
        assert await saga.stores.vector.count(scope) == 5
        assert await saga.maintenance.differences(turn.session.id) == []


async def test_an_embedder_out_of_reach_holds_up_nothing_but_vectors(
    monkeypatch: pytest.MonkeyPatch, sees_meaning: None
) -> None:
    reach = False
    whole = NgramEmbedder.embed

    async def embed(self: NgramEmbedder, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        if not reach:
            raise StoreUnavailable("no such host")
        return await whole(self, texts, mode)

    monkeypatch.setattr(NgramEmbedder, "embed", embed)
    async with Saga.open(memory_config()) as saga:
        turn = await Frontend(saga).say("숲으로 간다.", "숲은 어둡다.", location="어둠의 숲")
        report = await saga.drain(10)
        assert [each.reason for each in report.waiting] != []
        head = (await saga.parts.live.get(turn.session.id)).head
        assert await saga.parts.projector.current_slot(await saga.parts.live.get(turn.session.id), head) is not None
        pages, _ = await saga.views.pages(turn.session.id)
        assert pages is not None and "어둠의 숲" in pages.files["state.md"]
        reach = True
        assert (await saga.drain(10)).waiting == ()
        assert await saga.maintenance.differences(turn.session.id) == []


async def test_vectors_of_an_older_form_of_passages_are_made_anew(tmp_path: Path, sees_meaning: None) -> None:
    async with Saga.open(config(tmp_path, 64)) as saga:
        frontend, turn = await played(saga, 3)
        scope, store = episodes_scope(turn.session.id), saga.stores.vector
        items = await store.scan(scope)
        # As the version before left them: marked with the embedder alone, and of other texts.
        assert saga.stores.embedder is not None
        await store.drop(scope)
        await store.create(scope, ScopeSpec(saga.stores.embedder.id, 64))
        others = [array("f", [1.0] + [0.0] * 63) for _ in items]
        await store.upsert(scope, [evolve(item, vector=other) for item, other in zip(items, others, strict=True)])
    async with Saga.open(config(tmp_path, 64)) as saga:
        await Frontend(saga, session="모험", history=frontend.history).say("다시 연다.", "다시 열렸다.")
        await saga.drain(10)
        assert await saga.stores.vector.count(scope) == 4
        assert await saga.stores.vector.describe(scope) == spec_of(scope, saga.stores.embedder)
        assert await saga.maintenance.differences(turn.session.id) == []
