"""``saga keys`` and ``saga audit``: on a data directory."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from saga_server.cli.saga_command import main

SECRET = re.compile(r"saga_[\w-]{43}")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with settings; logging is afterwards as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saga.yaml").write_text("server: {api_keys: [admin-key-1]}\nstorage: {path: data}\n", encoding="utf-8")
    (tmp_path / "data").mkdir()
    yield tmp_path
    root.handlers[:] = handlers
    root.setLevel(level)


def saga(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def listed() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(saga("keys", "--json").stdout)["keys"]
    return found


def test_from_making_to_revoking(here: Path) -> None:
    made = saga("keys", "create", "Mina", "--turns-a-minute", "20", "--dollars-a-day", "1.5")
    assert made.exit_code == 0, made.output
    secret = SECRET.search(made.stdout)
    assert secret is not None and "shown this once" in made.stdout
    (key,) = listed()
    assert (key["name"], key["role"], key["prefix"]) == ("Mina", "player", secret[0][:9])
    number = str(key["id"])

    shown = saga("keys", "show", number)
    assert "turns this minute 0 of 20" in shown.stdout and "dollars today 0.00 of 1.50" in shown.stdout
    changed = saga("keys", "change", number, "--turns-a-minute", "0", "--name", "Mina's laptop")
    assert "turns this minute 0," in changed.stdout and "Mina's laptop" in changed.stdout, changed.output

    rotated = saga("keys", "rotate", number, "--grace", "60")
    second = SECRET.search(rotated.stdout)
    assert second is not None and second[0] != secret[0]
    assert "its sessions stay" in saga("keys", "revoke", number).stdout
    assert listed()[0]["revoked"]
    plain = saga("keys").stdout
    assert "revoked" in plain and "1 key\n" in plain
    for told in (plain, saga("keys", "--json").stdout, shown.stdout):
        assert not SECRET.search(told)
    for file in (here / "data").rglob("*"):
        if file.is_file():
            assert secret[0].encode() not in file.read_bytes(), file


def test_what_is_wrong_is_told(here: Path) -> None:
    assert saga("keys", "show", "nobody").exit_code != 0
    assert saga("keys", "create", "x", "--role", "king").exit_code == 2
    assert saga("keys", "create", "x", "--sessions", "-1").exit_code == 2
    assert "no fingerprint" in saga("keys", "create", "x", "--owner", "?").stderr


def test_without_keys_in_the_settings_none_is_made(here: Path) -> None:
    (here / "saga.yaml").write_text("storage: {path: data}\n", encoding="utf-8")
    made = saga("keys", "create", "Mina")
    assert made.exit_code != 0 and "server.api_keys" in made.stderr
    assert listed() == []


def test_the_log_of_a_data_directory(here: Path) -> None:
    assert saga("audit").stdout == "0 entries\n"
    assert json.loads(saga("audit", "--json").stdout) == {"entries": [], "next": None}
