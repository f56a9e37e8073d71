"""Journals of every released format are opened, shown, verified and played on by the SAGA of today."""

from __future__ import annotations

from pathlib import Path

import pytest

from saga_core import Saga
from saga_core.journal import keys
from tests.core.frontend import Frontend
from tests.replay.recorded_journals import formats, known, unpack


def test_every_format_is_recorded() -> None:
    assert formats() == list(range(1, keys.FORMAT + 1)), "python -m tests.replay.recorded_journals"


@pytest.mark.parametrize("number", formats())
async def test_it_is_what_it_was(tmp_path: Path, number: int) -> None:
    told = unpack(number, tmp_path)
    async with Saga.open({"storage": {"path": str(tmp_path)}}) as saga:
        await saga.drain(30)
        assert await known(saga) == told
        verdict = await saga.maintenance.verify()
        assert [finding for finding in verdict.findings if finding.mend is None] == [], "nothing is lost"
        assert (await saga.maintenance.repair(verdict)).findings == ()
        assert await known(saga) == told


@pytest.mark.parametrize("number", formats())
async def test_it_is_played_on(tmp_path: Path, number: int) -> None:
    told = unpack(number, tmp_path)
    (session, about) = next(iter(told.items()))
    turns = about["turns"]
    head = turns[about["head"]]
    async with Saga.open({"storage": {"path": str(tmp_path)}}) as saga:
        path = (await saga.views.turns(session))[1:]
        chat = Frontend(saga, owner="k1")
        for turn in path:
            chat.history += [{"role": "user", "content": turn.user}, {"role": "assistant", "content": turn.reply}]
        begun = await chat.say("계속 간다.", "길이 이어진다. 해가 진다.", hp_change=-1)
        assert (begun.session.id, begun.parent.id) == (session, about["head"])
        await saga.drain(30)
        assert (await saga.describe(session))["hp"] == head["hp"] - 1
        assert (await saga.maintenance.verify()).findings == ()
