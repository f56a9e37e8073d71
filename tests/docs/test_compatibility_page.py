"""docs/compatibility.md: each row names a test that exists."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

TEXT = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.split("\n") if line.startswith("| ") and not line.startswith(("| what |", "| ---"))]


def test_the_page_has_rows() -> None:
    assert len(ROWS) > 30 and len(set(ROWS)) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_a_row_is_held_by_a_test(row: str) -> None:
    found = re.fullmatch(r"\| [^|]+ \| [^|]+ \| `(tests/[\w/]+\.py)::(test_\w+)` \|", row)
    assert found, "a row has three cells: what, what is known to work, and the test"
    file = ROOT / found[1]
    assert file.is_file(), found[1]
    assert re.search(rf"^(?:async )?def {found[2]}\(", file.read_text(encoding="utf-8"), re.MULTILINE), found[2]
