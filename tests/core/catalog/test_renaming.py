"""A session gets another name: it is found by that one, and the former one is free."""

from __future__ import annotations

from pathlib import Path

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput, Conflict, NotFound
from tests.core.frontend import MEMORY, Frontend, memory_config


async def test_it_is_found_by_its_new_name_and_plays_on() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, session="모험")
        first = await chat.say("숲으로 간다.", "어두운 숲에 들어선다.", location="어두운 숲")
        renamed = await saga.sessions.rename("모험", "  긴   모험 ")
        assert (renamed.id, renamed.label) == (first.session.id, "긴 모험")
        chat.session = "긴 모험"
        second = await chat.say("더 들어간다.", "안개가 짙어진다.")
        assert second.session.id == first.session.id and (await saga.sessions.get("긴 모험")).head == second.id
        with pytest.raises(NotFound):
            await saga.sessions.get("모험")
        assert (await saga.sessions.rename(renamed.id, "긴 모험")).head == second.id, "its own name is no conflict"
        other = await saga.sessions.create(label="모험")
        assert other.id != first.session.id


async def test_a_session_without_a_name_gets_one_and_keeps_it(tmp_path: Path) -> None:
    config = load_config({**MEMORY, "storage": {"profile": "lite", "path": str(tmp_path)}}, environ={})
    async with Saga.open(config) as saga:
        session = await saga.sessions.create()
        await saga.sessions.rename(session.id, "이야기")
    async with Saga.open(config) as saga:
        assert (await saga.sessions.get("이야기")).id == session.id
        await saga.sessions.delete("이야기")
        assert (await saga.sessions.create(label="이야기")).id != session.id, "its name went with it"


async def test_a_name_that_is_taken_or_none_is_refused() -> None:
    async with Saga.open(memory_config()) as saga:
        await saga.sessions.create(label="하나")
        two = await saga.sessions.create(label="둘")
        theirs = await saga.sessions.create(label="하나", owner="0123456789abcdef")
        with pytest.raises(Conflict, match="there is a session '하나' already"):
            await saga.sessions.rename("둘", "하나")
        for name in ("", "  ", "x" * 201, "a\x07b"):
            with pytest.raises(BadInput, match="label: "):
                await saga.sessions.rename("둘", name)
        assert (await saga.sessions.get(two.id)).label == "둘"
        with pytest.raises(NotFound):
            await saga.sessions.rename("셋", "넷")
        assert (await saga.sessions.rename(theirs.id, "둘")).label == "둘", "another owner's names are no conflict"


@pytest.mark.parametrize("owner", ["", "0123456789abcdef"])
async def test_an_id_means_its_session_whatever_another_one_is_named(owner: str) -> None:
    async with Saga.open(memory_config()) as saga:
        one = await saga.sessions.create(label="하나", owner=owner)
        two = await saga.sessions.create(owner=owner)
        await saga.sessions.rename(two.id, one.id)
        for whose in (None, owner):
            assert (await saga.sessions.get(one.id, whose)).id == one.id
        chat = Frontend(saga, session=one.id, owner=owner)
        assert (await chat.say("간다.", "길이 열린다.")).session.id == one.id
        await saga.sessions.delete(one.id)
        assert (await saga.sessions.get(one.id, owner)).id == two.id, "the name leads to it, where no id does"
