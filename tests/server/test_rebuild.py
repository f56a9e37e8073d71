"""``saga rebuild``: what was thrown away or damaged comes back from the journal."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from click.testing import CliRunner

from saga_core.engine.saga import Saga
from saga_server.cli import main
from tests.core.engine.play import Frontend


async def _play(folder: Path) -> str:
    async with Saga.open({"storage": {"path": str(folder)}, "session": {"default_world": "ersia"}}) as saga:
        chat = Frontend(saga, session="모험")
        turn = await chat.say("숲으로 간다.", "낡은 길을 따라 숲 속으로 들어선다.", location="어둠의 숲", hp_change=-5)
        await saga.drain(20)
        return turn.session.id


async def test_views_come_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    session = await _play(data)
    shutil.rmtree(data / "pages")
    for left in data.glob("vectors.db*"):
        left.unlink()
    result = await asyncio.to_thread(CliRunner().invoke, main, ["rebuild", "--data", str(data)])
    assert result.exit_code == 0, result.output
    assert f"{session}: rebuilt, and equal to the journal" in result.output
    assert any("어둠의 숲" in page.read_text("utf-8") for page in (data / "pages").rglob("state.md"))


async def test_an_unknown_session_is_named(tmp_path: Path) -> None:
    await _play(tmp_path / "data")
    result = await asyncio.to_thread(CliRunner().invoke, main, ["rebuild", "nobody", "--data", str(tmp_path / "data")])
    assert result.exit_code != 0
    assert "nobody" in result.output
