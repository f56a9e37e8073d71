"""`saga bench` measures a turn on the configured stores, and leaves the user's data alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from saga_server.cli.saga_command import main


def test_every_step_is_measured_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saga.yaml").write_text(
        "storage: {path: mine, state: {path: elsewhere/state.db}, vector: {backend: memory}}\n"
        "server: {api_keys: [a-key]}\nmodels: {narration: big}\nproviders: {openai: {api_key: k}}\n"
    )
    run = CliRunner().invoke(main, ["bench", "--turns", "3", "--proxy", "--json"])
    assert run.exit_code == 0, run.output
    found = json.loads(run.output)
    assert found["turns"] == 3
    assert (found["stores"]["state"], found["stores"]["vector"]) == ("sqlite", "memory")
    steps = found["steps"]
    assert list(steps) == [
        "reading the first turn",
        "recording it",
        "updating the stores, after the reply",
        "reading a turn",
    ]
    assert all(0 < step["wall_median"] <= step["wall_99"] for step in steps.values())
    assert 0 < found["proxy"]["reading_of_it"] < found["proxy"]["first_word"]
    assert [path.name for path in tmp_path.iterdir()] == ["saga.yaml"]


def test_the_table_has_a_line_for_each_step() -> None:
    run = CliRunner().invoke(main, ["bench", "--turns", "2"])
    assert run.exit_code == 0, run.output
    lines = run.output.splitlines()
    assert lines[0].startswith("2 turns on state: sqlite")
    assert len([line for line in lines if line.startswith(("reading", "recording", "updating"))]) == 4


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / "saga.yaml").write_text("storage: {profile: huge}\n")
    run = CliRunner().invoke(main, ["bench", "--config", str(tmp_path / "saga.yaml")])
    assert run.exit_code == 2 and "storage.profile" in run.output
