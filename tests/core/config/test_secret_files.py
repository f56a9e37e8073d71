"""``${file:/path}``: a setting's text from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from saga_core.config import load_config
from saga_core.errors import ConfigError


def test_a_secret_comes_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "비밀 key"
    file.write_text("open-sesame\n")
    tree = {
        "server": {"api_keys": [f"${{file:{file}}}", "other-key"]},
        "providers": {"openai": {"api_key": f"${{file:{file}}}"}},
        "storage": {"state": {"url": f"postgresql://saga:${{file:{file}}}@db/saga"}},
    }
    config = load_config(tree, environ={})
    assert config.server.api_keys == ("open-sesame", "other-key")
    assert config.providers["openai"].api_key == "open-sesame"
    assert config.storage.state.url == "postgresql://saga:open-sesame@db/saga"


def test_so_does_any_other_text(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("81\r\n")
    config = load_config({"server": {"port": f"${{file:{tmp_path / 'port'}}}"}}, environ={})
    assert config.server.port == 81
    assert load_config({"models": {"narration": "$${file:/x}"}}, environ={}).models.narration == "${file:/x}"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("{}/nowhere", "cannot be read (No such file or directory)"),
        ("{}", "cannot be read (Is a directory)"),
        ("relative/key", "is no whole path; give one that begins with /"),
        ("{}/raw", "is not UTF-8 text"),
        ("{}/large", "is larger than 65536 bytes"),
        ("{}/line", "give a text of printable ASCII characters"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_never_shown(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "raw").write_bytes(b"geheim\xff")
    (tmp_path / "large").write_bytes(b"geheim" * 20_000)
    (tmp_path / "line").write_bytes(b"geheim\ngeheim\n")
    with pytest.raises(ConfigError) as refused:
        load_config({"providers": {"openai": {"api_key": f"${{file:{name.format(tmp_path)}}}"}}}, environ={})
    (problem,) = refused.value.problems
    assert problem.startswith("providers.openai.api_key: ")
    assert why in problem and "geheim" not in problem
