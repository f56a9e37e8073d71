from __future__ import annotations

from pathlib import Path

import pytest

from saga_core import replacing
from saga_core.replacing import replace_file


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setattr(replacing.time, "sleep", pauses.append)
    return pauses


def windows(monkeypatch: pytest.MonkeyPatch, held_for: int) -> None:
    """``os.replace`` as on Windows while another program holds the file open, for so many attempts."""
    left, real = [held_for], Path.replace

    def held(self: Path, target: Path) -> Path:
        if left[0]:
            left[0] -= 1
            raise PermissionError(13, "Access is denied", str(target))
        return real(self, target)

    class Nt:
        name = "nt"

    monkeypatch.setattr(replacing, "os", Nt)
    monkeypatch.setattr(Path, "replace", held)


def files(folder: Path) -> tuple[Path, Path]:
    new, place = folder / "state.md.tmp", folder / "state.md"
    new.write_text("new")
    place.write_text("old")
    return new, place


@pytest.mark.parametrize("times", [0, 1, 5])
def test_a_file_that_is_open_elsewhere_is_replaced_when_it_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waited: list[float], times: int
) -> None:
    new, place = files(tmp_path)
    windows(monkeypatch, times)
    replace_file(new, place)
    assert (place.read_text(), new.exists(), len(waited)) == ("new", False, times)


def test_one_that_is_not_let_go_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waited: list[float]) -> None:
    new, place = files(tmp_path)
    windows(monkeypatch, 99)
    with pytest.raises(PermissionError):
        replace_file(new, place)
    assert place.read_text() == "old" and sum(waited) < 1.0


def test_elsewhere_a_refusal_is_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waited: list[float]) -> None:
    new, place = files(tmp_path)
    windows(monkeypatch, 1)
    monkeypatch.setattr(replacing.os, "name", "posix")
    with pytest.raises(PermissionError):
        replace_file(new, place)
    assert waited == []
