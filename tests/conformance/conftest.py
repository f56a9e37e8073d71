"""What of the suite is left to the long searches, by what it costs."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
COSTLY = {"test_cache_files[L-11.much_is_there_again]"}
"""Seventy megabytes of pages, in files of their own. Another check of L-11 opens the same engine again."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark those of this folder."""
    for item in items:
        if item.name in COSTLY and item.path.parent == HERE:
            item.add_marker(pytest.mark.deep)
