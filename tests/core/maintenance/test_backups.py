"""The index of backups names files, and one of a path replaces another."""

from __future__ import annotations

from pathlib import Path

import pytest

from saga_core.errors import StoreCorrupt
from saga_core.maintenance.lists import BackupCopy, add_to_index, read_index

FILE = "backups.json"
ONE = BackupCopy("/backups/하나.saga", 10.0, 5_000, 2, 40)


def test_backups_are_listed_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    assert read_index(tmp_path) == []
    two = BackupCopy("/backups/two.saga", 20.0, 1, 0, 0)
    for each in (ONE, two, BackupCopy(ONE.path, 30.0, 6_000, 3, 50)):
        add_to_index(tmp_path, each)
    assert read_index(tmp_path) == [two, BackupCopy(ONE.path, 30.0, 6_000, 3, 50)]
    assert [each.name for each in tmp_path.iterdir()] == [FILE], "nothing half-written is left"
    assert "하나" in (tmp_path / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "[]", '{"backups": [{"path": "x"}]}', '{"backups": [{"what": 1}]}', "{}"])
def test_an_index_that_cannot_be_read_is_told_and_not_overwritten(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(StoreCorrupt, match="move it away, and note where your backups are"):
        add_to_index(tmp_path, ONE)
    assert (tmp_path / FILE).read_text(encoding="utf-8") == text
