"""The pages of the contract hold clauses, each of which is read."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import groupby

import pytest

import conformance.spec
from conformance.spec import PAGES, clauses


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_hold_nothing_but_clauses_numbered_in_order(page: str) -> None:
    text = files(conformance.spec).joinpath(f"{page}.md").read_text(encoding="utf-8")
    bold = re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)
    mine = [clause.id for clause in clauses().values() if clause.page == page]
    assert bold == mine, "a clause that cannot be read would be promised and not checked"
    letters = {name[0] for name in mine}
    assert len(letters) == 1
    assert mine == [f"{letters.copy().pop()}-{number}" for number in range(1, len(mine) + 1)]


def test_ids_of_the_pages_do_not_meet() -> None:
    by_page = [next(iter(group)).id[0] for _, group in groupby(clauses().values(), key=lambda clause: clause.page)]
    assert len(set(by_page)) == len(PAGES) == len(by_page)
