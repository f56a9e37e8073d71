"""The threat model names where each attack is tried: those tests are there, and none of that kind is left out."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
_NAMED = re.compile(r"`(tests/[\w/]+\.py)`")
_ROW = re.compile(r"^\| (?!what|---)(?P<what>[^|]+) \| (?P<tests>[^|]*) \|$", re.MULTILINE)
_TRIED = (
    "tests/faults/test_*.py",
    "tests/patterns/test_*.py",
    "tests/**/test_*attack*.py",
    "tests/**/test_hostile*.py",
)
"""Files whose names say that they attack."""
_OF_PLAY = {
    "tests/faults/test_embedder_answers.py",
    "tests/faults/test_gone.py",
    "tests/faults/test_models.py",
    "tests/faults/test_small_models.py",
    "tests/faults/test_stores.py",
}
"""What breaks by itself; docs/architecture.md says what happens then."""


def named() -> set[str]:
    return set(_NAMED.findall(PAGE))


def test_every_test_that_is_named_is_there() -> None:
    assert len(named()) > 30
    for name in sorted(named()):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.search(r"^\s*(async )?def test_", text, re.MULTILINE), name


def test_every_row_of_the_table_of_tests_names_one() -> None:
    rows = _ROW.findall(PAGE.partition("\n## The tests\n")[2])
    assert len(rows) > 30
    for what, tests in rows:
        assert _NAMED.search(tests), what


def test_no_attack_is_left_out() -> None:
    found = {path.relative_to(ROOT).as_posix() for pattern in _TRIED for path in ROOT.glob(pattern)}
    assert found - _OF_PLAY - named() == {"tests/server/admin/test_openapi_attacked.py"}, "that one is told in words"
