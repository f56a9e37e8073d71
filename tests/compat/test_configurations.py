"""Configuration files of commit 18d39bea load, mean what they meant or say what changed, and open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from saga_core import Saga
from saga_core.config import load_config
from tests.compat.configurations import ENVIRONMENT, FOLDER, MEANING, files, meaning, written

RECORDED = json.loads(MEANING.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", files(), ids=lambda file: file.stem)
def test_each_setting_means_what_it_meant_or_a_note_names_it(file: Path) -> None:
    config = load_config(file, environ=ENVIRONMENT)
    paths = list(written(file))
    assert {".".join(path) for path in paths} == RECORDED[file.name].keys()
    for path in paths:
        name = ".".join(path)
        if not any(name in note for note in config.warnings):
            assert meaning(config, path) == RECORDED[file.name][name], name


@pytest.mark.parametrize("name", ["research-note", "adjacency"])
async def test_it_opens_and_a_turn_is_played(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)
    file = tmp_path / "saga.yaml"
    file.write_bytes((FOLDER / f"{name}.yaml").read_bytes())
    (tmp_path / "worlds" / "my_world").mkdir(parents=True)
    (tmp_path / "worlds" / "my_world" / "WORLD.md").write_text("# My world\n\nA quiet place.\n", encoding="utf-8")
    async with Saga.open(file) as saga:
        turn = await saga.begin([{"role": "user", "content": "I look around."}])
        turn.replies[0].feed("It is quiet.\n\n```state\nlocation: the yard\nlocation_moved: true\nhp_change: -5\n```")
        await turn.commit()
        session = turn.session.id
    async with Saga.open(file) as saga:
        state = await saga.describe(session)
        assert (state["turn"], state["location"]) == (1, "the yard")
