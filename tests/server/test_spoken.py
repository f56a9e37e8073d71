from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from saga_server.demo import command
from saga_server.spoken import spoken

TALKED = ("en", "ko")


@pytest.mark.parametrize(
    ("environ", "system", "tag"),
    [
        ({"LANG": "ko_KR.UTF-8"}, "", "ko"),
        ({"LANG": "ko"}, "", "ko"),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "ko_KR.eucKR"}, "", "ko"),
        ({"LC_MESSAGES": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "", "ko"),
        ({"LC_ALL": "", "LANG": "ko_KR.UTF-8"}, "", "ko"),
        ({"LANG": "Korean_Korea.949"}, "", "ko"),
        ({"LANG": "C.UTF-8"}, "ko_KR", "en"),
        ({"LANG": "ja_JP.UTF-8"}, "", "en"),
        ({"LANG": "kok_IN"}, "", "en"),
        ({}, "ko_KR", "ko"),
        ({}, "ko-KR", "ko"),
        ({}, "", "en"),
    ],
)
def test_the_locale_says_it(environ: dict[str, str], system: str, tag: str) -> None:
    assert spoken(TALKED, environ, lambda: system) == tag


def test_the_first_is_for_everybody_else() -> None:
    assert spoken(("ko", "en"), {"LANG": "fr_FR.UTF-8"}) == "ko"


@pytest.mark.parametrize(
    ("locale", "arguments", "played"),
    [
        ("ko_KR.UTF-8", [], "ko"),
        ("de_DE.UTF-8", [], "en"),
        ("ja_JP.UTF-8", [], "en"),
        ("ko_KR.UTF-8", ["--lang", "en"], "en"),
    ],
)
def test_the_demo_speaks_it(monkeypatch: pytest.MonkeyPatch, locale: str, arguments: list[str], played: str) -> None:
    heard: list[str] = []

    def run(_folder: Path, _profile: str, _stores: object, lang: str, _plain: bool, *, kept: bool) -> bool:
        heard.append(lang)
        return not kept

    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", locale)
    monkeypatch.setattr(command, "_run", run)
    assert CliRunner().invoke(command.demo, arguments).exit_code == 0
    assert heard == [played]
