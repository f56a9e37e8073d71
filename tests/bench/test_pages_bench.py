"""The benchmark of the pages says what it found and which goals are missed; docs/pages.md quotes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.bench.command import bench
from tests.bench.pages import GOALS, missed, rows

PAGE = (Path(__file__).parents[2] / "docs" / "pages.md").read_text(encoding="utf-8")
MET = {goal.key: (goal.most or 1) / 2 for goal in GOALS}


def test_a_goal_is_missed_by_what_is_above_it() -> None:
    assert missed(MET) == []
    for goal in GOALS:
        if goal.most is not None:
            (told,) = missed({**MET, goal.key: goal.most * 2})
            assert told.startswith(goal.label) and f"goal {goal.most:g}" in told


def test_the_table_has_every_figure_and_the_document_quotes_it() -> None:
    table = rows(MET)
    for goal, line in zip(GOALS, table[2:], strict=True):
        assert line.startswith(f"| {goal.label} |")
        assert f"| {goal.label} |" in PAGE


def test_without_a_browser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    done = CliRunner().invoke(bench, ["pages", "--turns", "30"])
    assert done.exit_code == 1 and "install chromium" in done.output
