"""A list of sessions reads the tree of one that is not in memory once, and again when it may have changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.journal import Journal
from saga_core.model import Tree
from tests.core.frontend import MEMORY, Frontend


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the tree of each session is read from the journal."""
    found: Counter[str] = Counter()
    inner = Journal.tree

    async def tree(journal: Journal, session_id: str) -> Tree:
        found[session_id] += 1
        return await inner(journal, session_id)

    monkeypatch.setattr(Journal, "tree", tree)
    return found


async def test_a_tree_at_rest_is_read_once_for_many_lists(tmp_path: Path, read: Counter[str]) -> None:
    config = load_config({**MEMORY, "storage": {"profile": "lite", "path": str(tmp_path)}}, environ={})
    ids = []
    async with Saga.open(config) as saga:
        for name in ("하나", "둘", "셋"):
            chat = Frontend(saga, session=name)
            for turn in range(3):
                ids.append((await chat.say(f"{name}, {turn}번째 길.", f"{turn}번째 길 끝에 문이 있다.")).session.id)
    one, two, three = dict.fromkeys(ids)
    async with Saga.open(config) as saga:
        first = await saga.sessions.list()
        read.clear()
        for _ in range(5):
            assert await saga.sessions.list() == first
        assert read == {}, "nothing changed"

        chat = Frontend(saga, session="둘")
        turns = await saga.views.turns(two)
        chat.history = [
            {"role": role, "content": text}
            for each in turns[1:]
            for role, text in (("user", each.user), ("assistant", each.reply))
        ]
        last = await chat.say("둘, 다시 걷는다.", "문이 열린다.")
        listed = {each.session.id: each for each in await saga.sessions.list()}
        assert (listed[two].turns, listed[two].depth, listed[two].session.head) == (4, 4, last.id)
        saga.parts.live.forget(two)
        assert {each.session.id: each.turns for each in await saga.sessions.list()} == {one: 3, two: 4, three: 3}

        await Frontend(saga, session="둘", history=chat.history[:2]).say("둘, 다른 길로.", "다른 길이다.")
        await saga.timelines.prune("둘", turns[2].id)
        saga.parts.live.forget(two)
        found = {each.session.id: each for each in await saga.sessions.list()}
        assert found[two].turns == 2
        await saga.sessions.rename("셋", "넷")
        await saga.sessions.delete(one)
        assert sorted(each.session.label for each in await saga.sessions.list()) == ["넷", "둘"]
