"""Where settings are read from, and what a file that cannot be read as settings is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saga_core.config.load import read_source
from saga_core.errors import ConfigError


def read(tmp_path: Path, text: str | bytes) -> Any:
    file = tmp_path / "saga.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_source(file)


def test_a_file_gives_its_name_its_tree_and_its_folder(tmp_path: Path) -> None:
    source = read(tmp_path, "\ufeffserver:\n  port: 5\n  이름: 값\n")
    assert (source.name, source.base) == ("saga.yaml", tmp_path.resolve())
    assert source.tree == {"server": {"port": 5, "이름": "값"}}
    assert read(tmp_path, "# nothing\n").tree == {}


def test_values_at_hand_and_nothing_are_relative_to_the_working_directory() -> None:
    assert read_source({"server": {}}).tree == {"server": {}} and read_source({}).base == Path.cwd()
    assert (read_source(None).name, read_source(None).tree) == ("config", {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- a\n", "the file holds a list; give sections"),
        ("just text", "the file holds a single value"),
        ("a: 1\nb: 2\na: 3\n", "line 3: a appears a second time"),
        ("server: {port: 1, port: 2}", "port appears a second time"),
        ("a: [1\n", "line 2, column 1: this is not valid YAML"),
        ("a:\n\tb: 1\n", "line 2, column 1: .*'\\\\t' that cannot start any token; indent with spaces, not with tabs"),
        ("5: x", "the top level: the key 5 is no text"),
        ("server:\n  true: x", "server: the key True is no text"),
        (b"a: \xff", r"the text is not UTF-8 \(byte 3\)"),
        ("a: !!python/object:os.system x", "this is not valid YAML"),
        ("a: &a [*a]", "a value refers to itself"),
        ("a: 2026-99-99", "this is not valid YAML"),
        ("a: " + "[" * 20 + "]" * 20, "nested deeper than 16 levels"),
        ("a: " + "[" * 9_000, "nested deeper than 64 levels"),
    ],
)
def test_what_is_no_settings_file_is_told_where(tmp_path: Path, text: str | bytes, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as error:
        read(tmp_path, text)
    assert error.value.source == "saga.yaml"


def test_references_that_unfold_to_a_flood_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 6)]
    with pytest.raises(ConfigError, match="values, references unfolded, are more than 10,000"):
        read(tmp_path, "\n".join(lines))
    assert read(tmp_path, "a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n").tree["b"] == {"x": 1, "y": 2}


def test_a_missing_file_is_named_with_what_may_be_wrong(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file; check the path given by --config or SAGA_CONFIG"):
        read_source(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="the file cannot be read"):
        read_source(tmp_path)
