"""Prose of the pages keeps to 120 columns; tables and code may need more."""

from __future__ import annotations

import pytest

from tests.docs.pages import Page, pages

WIDEST = 120


@pytest.mark.parametrize("found", pages(), ids=str)
def test_prose_keeps_to_the_width(found: Page) -> None:
    lines = enumerate(found.prose.split("\n"), 1)
    assert [number for number, line in lines if len(line) > WIDEST and not line.startswith("|")] == []
