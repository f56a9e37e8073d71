"""``saga import`` and ``saga export`` with files of other tools."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from saga_server.cli.saga_command import main
from tests.core.imports import samples


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with files of other tools; logging is afterwards as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "user"
    (folder / "chats").mkdir(parents=True)
    (folder / "characters").mkdir()
    (folder / "chats" / "one.jsonl").write_bytes(samples.st_chat())
    (folder / "characters" / "y.png").write_bytes(samples.card_png(samples.card_v2()))
    (folder / "notes.txt").write_text("hello")
    yield tmp_path
    root.handlers[:] = handlers
    root.setLevel(level)


def saga(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--data", "data"])


def test_a_folder_is_taken_in_and_given_out_again(here: Path) -> None:
    dry = saga("import", "user", "--dry-run")
    assert dry.exit_code == 0, dry.stderr
    assert "new    a character card: Ysolde  world Ysolde" in dry.stdout
    assert "mapped  position" in dry.stdout and "not taken  user/notes.txt" in dry.stdout
    assert "nothing was written" in dry.stdout and not (here / "worlds").exists()
    taken = saga("import", "user")
    assert taken.exit_code == 0 and "3 turns, 3 swipes" in taken.stdout
    again = saga("import", "user")
    assert again.stdout.count("known  ") == 2
    sessions = json.loads(saga("sessions", "--json").stdout)["sessions"]
    assert [each["label"] for each in sessions] == ["Ysolde - one"]
    out = saga("export", "Ysolde - one", "chat.jsonl", "--as", "sillytavern")
    assert out.exit_code == 0, out.stderr
    assert json.loads(saga("import", "chat.jsonl", "--json").stdout)["things"][0]["state"] == "known"
    assert saga("export", "Ysolde", "card.json", "--as", "card").exit_code == 0
    assert json.loads((here / "card.json").read_text())["spec"] == "chara_card_v3"


def test_a_session_file_that_is_cut_off_is_told_beside_one_that_is_whole(here: Path) -> None:
    assert saga("import", "user").exit_code == 0
    assert saga("export", "Ysolde - one", "whole.jsonl").exit_code == 0
    whole = (here / "whole.jsonl").read_text(encoding="utf-8")
    (here / "cut.jsonl").write_text(whole[: len(whole) // 2], encoding="utf-8")
    for files in (("whole.jsonl", "cut.jsonl"), ("cut.jsonl", "whole.jsonl")):
        result = saga("import", *files)
        assert result.exit_code == 1 and "not taken  cut.jsonl: " in result.stdout
        assert "6 turns" in result.stdout


def test_what_cannot_be_taken_in_ends_with_words(here: Path) -> None:
    failed = saga("import", "user/notes.txt")
    assert failed.exit_code == 2 and "no card, lorebook or chat" in failed.stderr
    missing = saga("import", "nothing.png")
    assert missing.exit_code == 2 and "nothing.png: cannot be read" in missing.stderr
