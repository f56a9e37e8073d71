"""The list of what was forgotten: what an older copy would bring back, and nothing that tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from saga_core.errors import StoreCorrupt
from saga_core.maintenance.lists import OlderCopy, brought_back, note_forgotten, read_forgotten

FILE = "forgotten.json"


def test_a_copy_brings_back_what_was_forgotten_after_it_was_made(tmp_path: Path) -> None:
    assert read_forgotten(tmp_path) == []
    note_forgotten(tmp_path, ["s1", "s2"], 10.0, whole=True)
    note_forgotten(tmp_path, ["s3"], 20.0, whole=False)
    everything = ("s1", "s2", "s3", "s4")
    assert brought_back(tmp_path, everything, 5.0) == OlderCopy(("s1", "s2"), ("s3",))
    assert brought_back(tmp_path, everything, 15.0) == OlderCopy((), ("s3",))
    assert brought_back(tmp_path, everything, 25.0) == OlderCopy((), ())
    assert brought_back(tmp_path, ("s4", "s2"), None) == OlderCopy(("s2",), ()), "it may be as old as anything"


def test_a_session_that_is_gone_is_gone_whatever_name_was_forgotten_in_it(tmp_path: Path) -> None:
    note_forgotten(tmp_path, ["s1"], 10.0, whole=True)
    note_forgotten(tmp_path, ["s1"], 11.0, whole=False)
    assert brought_back(tmp_path, ("s1",), 5.0) == OlderCopy(("s1",), ())


def test_no_id_stands_in_the_file(tmp_path: Path) -> None:
    note_forgotten(tmp_path, ["s01m80zs7243avsweey15"], 10.0, whole=True)
    assert b"s01m80zs7243avsweey15" not in (tmp_path / FILE).read_bytes()


@pytest.mark.parametrize("text", ["{", "[]", '{"forgotten": [{}]}', '{"other": []}'])
def test_a_file_that_is_none_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(StoreCorrupt, match="forget again"):
        read_forgotten(tmp_path)
