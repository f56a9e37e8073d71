"""What of the suite is left to the long searches, by what it costs."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
COSTLY = {
    "test_cache_files[L-11.much_is_there_again]",
    *(
        f"test_lmdb[{check}]"
        for check in (
            *("L-12.after_each_sort_of_write", "L-12.after_a_step", "L-12.in_a_large_write", "L-12.killed"),
            *("L-13.one_opener", "L-17.killed_again_and_again", "L-18.another_process_reads"),
            *("S-16.limits_of_state", "S-3.keys_that_look_alike"),
        )
    ),
}
"""Seventy megabytes of pages, in files of their own: another check of L-11 opens the same engine again. And what of the
worked example, which no user has, starts processes or writes much."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark those of this folder."""
    for item in items:
        if item.name in COSTLY and item.path.parent == HERE:
            item.add_marker(pytest.mark.deep)
