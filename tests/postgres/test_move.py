"""``saga move``: a journal goes from a file into PostgreSQL and back, and is the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from saga_backends.memory.state import MemoryState
from saga_core import Saga
from saga_core.errors import StoreError
from saga_core.maintenance import move_journal
from saga_core.stores import Batch
from saga_server.cli.saga_command import main
from tests.core.frontend import Frontend


async def played(storage: dict[str, Any], words: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    """One more turn of the chat ``history``, and the state after it."""
    async with Saga.open({"storage": storage, "session": {"default_world": "ersia"}}) as saga:
        frontend = Frontend(saga, session="the tale", history=history)
        await frontend.say(words, f"The innkeeper nods at that: {words}", hp_change=-5)
        await saga.drain(20)
        (summary,) = await saga.sessions.list()
        assert await saga.maintenance.differences(summary.session.id) == []
        return await saga.describe(summary.session.id)


def test_a_story_goes_into_a_database_and_back_into_a_file(
    url: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chat: list[dict[str, Any]] = []
    begun = asyncio.run(played({"path": str(tmp_path / "old")}, "I sit down by the fire.", chat))
    done = CliRunner().invoke(main, ["move", "--data", "old", "--to", url, "--schema", schema])
    assert done.exit_code == 0, done.output
    assert "of the journal copied and compared" in done.output
    place = {"options": {"schema": schema}}
    there = {"profile": "scale", "url": url, "path": str(tmp_path / "scale")}
    there |= dict.fromkeys(("state", "graph", "vector", "cache"), place)
    on = asyncio.run(played(there, "I ask for the way to the river.", chat))
    assert (on["turn"], on["hp"]) == (begun["turn"] + 1, begun["hp"] - 5)
    again = CliRunner().invoke(main, ["move", "--data", "old", "--to", url, "--schema", schema])
    assert again.exit_code == 2
    assert "holds something already" in again.output
    config = tmp_path / "scale.yaml"
    config.write_text(
        f"storage:\n  profile: scale\n  url: {url}\n  state:\n    options: {{schema: {schema}}}\n", encoding="utf-8"
    )
    back = CliRunner().invoke(main, ["move", "--config", str(config), "--to", "new"])
    assert back.exit_code == 0, back.output
    home = asyncio.run(played({"path": str(tmp_path / "new")}, "I thank her and go.", chat))
    assert (home["turn"], home["hp"]) == (begun["turn"] + 2, begun["hp"] - 10)


async def test_a_journal_that_is_written_meanwhile_is_not_taken_for_moved() -> None:
    source, target = MemoryState(), MemoryState()
    await source.commit(Batch({("turn", "s", str(number)): b"{}" for number in range(600)}))
    hasty = iter([True])

    def told(_: int) -> None:
        if next(hasty, False):
            source._values["turn", "s", "0"] = b"other"

    with pytest.raises(StoreError, match="was written while it was moved"):
        await move_journal(source, target, told)


async def test_what_belongs_to_servers_stays_where_it_is() -> None:
    source, target = MemoryState(), MemoryState()
    await source.commit(Batch({("lease", "session", "s"): b"{}", ("meta", "shown-by", "graph"): b"{}", ("a",): b"1"}))
    assert await move_journal(source, target) == 1
    assert await target.scan(()) == [(("a",), b"1")]
