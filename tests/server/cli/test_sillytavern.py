"""``saga sillytavern``: it copies the panel, allows the address, refuses other folders, and takes the panel out.

``saga risuai``: it writes the panel as one file.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from saga_core.config import load_config
from saga_server.cli.panels import with_origin
from saga_server.cli.saga_command import main


@pytest.mark.parametrize(
    "text",
    ["", "# mine\nmodels:\n  narration: offline\n", "server:\n    port: 9\n", 'server:\n  origins: ["https://a.b"]\n',
     "server:\n  origins: []\n  port: 9\n"],
)  # fmt: skip
def test_the_address_is_added_to_settings_and_all_else_stays(text: str) -> None:
    new = with_origin(text, "http://here:1")
    assert new is not None and all(line in new for line in text.splitlines() if "origins" not in line)
    assert "http://here:1" in new and ("https://a.b" in new) == ("https://a.b" in text)


@pytest.mark.parametrize("text", ["server:\n  origins:\n  - https://a.b\n", "[1"])
def test_settings_that_are_written_otherwise_are_left_to_their_owner(text: str) -> None:
    assert with_origin(text, "http://here:1") is None


@pytest.mark.parametrize(
    "address", ["http://a b", "http://a\tb c", "http://[x", "ftp://a", "a", "http://a/b", "http://a/?b"]
)
def test_an_address_that_no_origin_can_have_changes_nothing(tmp_path: Path, address: str) -> None:
    tavern, file = tmp_path / "tavern", tmp_path / "saga.yaml"
    (tavern / "public/scripts/extensions").mkdir(parents=True)
    file.write_text("server:\n  port: 9999\n", encoding="utf-8")
    command = ["sillytavern", "install", str(tavern), "--config", str(file), "--address", address]
    done = CliRunner().invoke(main, command)
    assert done.exit_code != 0 and "is no address" in done.output
    assert file.read_text(encoding="utf-8") == "server:\n  port: 9999\n"
    assert not list((tavern / "public/scripts/extensions").iterdir())


def test_it_installs_twice_and_is_removed(tmp_path: Path) -> None:
    tavern, file = tmp_path / "tavern", tmp_path / "saga.yaml"
    (tavern / "public/scripts/extensions").mkdir(parents=True)
    file.write_text("server:\n  port: 9999\n", encoding="utf-8")
    for _ in range(2):
        command = ["sillytavern", "install", str(tavern), "--config", str(file), "--address", "http://Here:1/"]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0 and f"saga sillytavern remove {tavern}" in done.output
        assert load_config(file, environ={}).server.origins == ("http://here:1",)
    place = tavern / "public/scripts/extensions/third-party/saga"
    assert {each.name for each in place.iterdir()} >= {"manifest.json", "index.js", "panel.js", "words.js", "style.css"}
    assert json.loads((place / "installed.json").read_text(encoding="utf-8")) == {"address": "http://127.0.0.1:9999"}
    done = CliRunner().invoke(main, ["sillytavern", "remove", str(tavern)])
    assert done.exit_code == 0 and not place.exists()
    done = CliRunner().invoke(main, ["sillytavern", "remove", str(tavern)])
    assert done.exit_code == 2 and "there is no panel" in done.output


def test_another_folder_and_what_is_no_address_are_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["sillytavern", "install", str(tmp_path)])
    assert done.exit_code == 2 and "has no SillyTavern" in done.output
    done = CliRunner().invoke(main, ["sillytavern", "install", str(tmp_path), "--address", "here"])
    assert done.exit_code == 2 and "is no address" in done.output


def test_the_plugin_is_one_file_that_knows_where_saga_is(tmp_path: Path) -> None:
    file, plugin = tmp_path / "saga.yaml", tmp_path / "saga.js"
    file.write_text("server:\n  port: 9999\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["risuai", str(plugin), "--config", str(file)])
    text = plugin.read_text(encoding="utf-8")
    assert done.exit_code == 0 and str(plugin) in done.output
    assert text.startswith("//@name ") and "//@api 3.0" in text[:300] and "http://127.0.0.1:9999" in text
    assert not [line for line in text.splitlines() if line.startswith(("import ", "export "))]
    done = CliRunner().invoke(main, ["risuai", str(tmp_path / "none" / "saga.js"), "--config", str(file)])
    assert done.exit_code != 0


@pytest.mark.parametrize("linked", [False, True])
def test_a_file_that_saga_did_not_write_stays(tmp_path: Path, linked: bool) -> None:
    theirs, plugin = tmp_path / "server.js", tmp_path / "saga.js"
    theirs.write_text("// @name saga's neighbour\n", encoding="utf-8")
    if linked:
        plugin.symlink_to(theirs)
    done = CliRunner().invoke(main, ["risuai", str(plugin if linked else theirs)])
    assert done.exit_code == 2 and "was not written by SAGA" in done.output
    assert theirs.read_text(encoding="utf-8") == "// @name saga's neighbour\n"
    again = tmp_path / "again.js"
    assert [CliRunner().invoke(main, ["risuai", str(again)]).exit_code for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("linked", [False, True])
def test_an_extension_that_saga_did_not_write_stays(tmp_path: Path, linked: bool) -> None:
    theirs, others = tmp_path / "public/scripts/extensions/third-party/saga", tmp_path / "others"
    (others if linked else theirs).mkdir(parents=True)
    if linked:
        theirs.parent.mkdir(parents=True)
        theirs.symlink_to(others)
    (theirs / "index.js").write_text("// theirs", encoding="utf-8")
    for command in ("install", "remove"):
        done = CliRunner().invoke(main, ["sillytavern", command, str(tmp_path)])
        assert done.exit_code == 2 and "was not written by SAGA" in done.output
    assert (theirs / "index.js").read_text(encoding="utf-8") == "// theirs"
