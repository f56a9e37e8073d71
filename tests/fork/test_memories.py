"""SAGA in the fork test, and the page with the figures."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fork import __main__ as command
from tests.fork import proof
from tests.fork.__main__ import MEMORIES, memory, read_stories
from tests.fork.generator import story
from tests.fork.memories import Bm25, Fts5, Last3
from tests.fork.reader import RIGHT
from tests.fork.runner import Asked, Memory, Result, estimate, figures, run
from tests.fork.saga_memory import SagaWithReports


@pytest.mark.parametrize("tag", ["en", "ko"])
def test_saga_tells_nothing_that_was_swiped_or_left(tag: str) -> None:
    """What edits took back is not meant: an edit above the last reply changes no state (docs/transcript.md)."""
    saga, ending = Result(), Result()
    saga.extend(run(story(tag, 6, 30, 0.3), SagaWithReports, estimate))
    ending.extend(run(story(tag, 6, 30, 0.3), Last3, estimate))
    swiped = [each for each in saga.asked if each.by and "edit" not in each.by]
    assert len(swiped) >= 5
    assert not [each for each in swiped if each.reading.leaked]
    assert right(saga.asked) > right(ending.asked) + 0.25


@pytest.mark.parametrize("make", [Bm25, Fts5])
def test_searches_find_what_is_not_shown(make: type[Memory]) -> None:
    """And tell nothing that the chat no longer has."""
    found, ending = Result(), Result()
    for tag in ("en", "zh"):
        found.extend(run(story(tag, 2, 40, 0.3), make, estimate))  # type: ignore[arg-type]
        ending.extend(run(story(tag, 2, 40, 0.3), Last3, estimate))
    assert right(found.asked) > right(ending.asked) + 0.25
    assert not [each for each in found.asked if each.reading.leaked]


def right(asked: list[Asked]) -> float:
    return sum(each.reading.outcome == RIGHT for each in asked) / len(asked)


class Chatty:
    """A memory with both optional attributes."""

    def __init__(self, story: dict[str, Any]) -> None:
        self.calls = 0
        self.closed: list[str] = story["closed"]

    def add(self, messages: list[dict[str, Any]]) -> None:
        """Call a model."""
        assert messages[0]["role"] == "system"
        self.calls += 1

    def context(self, question: str) -> str:
        """Tell nothing."""
        return ""

    def close(self) -> None:
        """Note that it was closed."""
        self.closed.append("closed")


def test_a_memory_of_ones_own_is_counted_and_closed() -> None:
    """With the calls that it says, and also when there are no tokens."""
    records = list(story("en", 1, 30, 0.0))
    records[0]["closed"] = []
    found = figures(run(records, Chatty, estimate))
    assert records[0]["closed"] == ["closed"]
    assert found["calls"] == pytest.approx(31 / 30)
    assert found["tokens"] == 0
    assert found["kinds"]["holder"][0] == 0
    assert found["right"][0] == pytest.approx(100 - found["silent"][0])


def test_a_file_of_several_stories_is_read_one_by_one(tmp_path: Any) -> None:
    """As ``write`` prints them, one after another."""
    one, other = list(story("en", 1, 10, 0.3)), list(story("ko", 1, 10, 0.3))
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (*one, *other)), encoding="utf-8")
    assert list(read_stories(path)) == [one, other]
    assert memory("bm25") is Bm25


class Silent:
    """A memory of one's own, as a newcomer writes one."""

    def __init__(self, story: dict[str, Any]) -> None:
        self.chat: list[dict[str, Any]] = []

    def add(self, messages: list[dict[str, Any]]) -> None:
        """Keep the chat."""
        self.chat = messages

    def context(self, question: str) -> str:
        """Tell nothing."""
        return ""


class Adding:
    """It has no context."""

    def __init__(self, story: dict[str, Any]) -> None: ...

    def add(self, messages: list[dict[str, Any]]) -> None:
        """Keep nothing."""


class Empty(Adding):
    """Its context is no text."""

    def context(self, question: str) -> None:
        """Return nothing."""


OWN = f"{__name__}:Silent"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str | None]:
    """Runs the command in a folder with the files ``stories``, and gives what it says when it refuses."""
    for module in (proof, command):
        monkeypatch.setattr(module, "tokens", lambda: (estimate, "an estimate"))
    monkeypatch.setattr(proof, "languages", lambda: ("en",))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    for name, lines in {"story": list(story("en", 1, 5, 0.3)), "short": list(story("en", 1, 2, 0.3))}.items():
        Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    Path("empty").write_text("", encoding="utf-8")
    Path("odd").write_text("{}\n", encoding="utf-8")

    def run_it(*words: str) -> str | None:
        monkeypatch.setattr(sys, "argv", ["fork", *words])
        try:
            command.main()
        except SystemExit as refusal:
            return str(refusal.code)
        return None

    return run_it


def test_the_tables_have_a_row_for_a_memory_of_ones_own(
    shell: Callable[..., str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    """And the figures of the page stay as they are."""
    before = proof.FIGURES.read_text(encoding="utf-8"), proof.PAGE.read_text(encoding="utf-8")
    words = ("proof", "--memory", OWN, "--memory", "last3", "--turns", "50", "--rates", "0", "--seeds", "1")
    assert shell(*words) is None
    printed = capsys.readouterr().out
    assert printed.count(f"| {OWN} |") == printed.count("| last 3 turns |") == 5
    assert f"| {OWN} | 0 |" in printed and "| – |" in printed  # nothing was edited
    assert (proof.FIGURES.read_text(encoding="utf-8"), proof.PAGE.read_text(encoding="utf-8")) == before
    assert shell(*words, "--page") == f"{PROG}--page: the page has no row for {OWN}; without it the tables are printed"
    fewer = ("proof", "--page", "--memory", "last3", "--turns", "50", "--rates", "30", "--seeds", "1")
    assert shell(*fewer) == f"{PROG}proof.json has 8 stories of 50 turns at 30 %, and these are 1"


PROG = "python -m tests.fork: "


@pytest.mark.parametrize(
    ("memory", "stories", "said"),
    [
        ("bm26", "story", "'bm26' is no memory: give module:Class, or one of last3, "),
        ("nowhere:Names", "story", "nowhere:Names: No module named 'nowhere'; give module:Class without .py"),
        ("csv.py:Names", "story", "csv.py:Names: No module named 'csv.py'; 'csv' is not a package; give module:Class"),
        ("csv:Names", "story", "csv:Names: the module csv has no 'Names'"),
        (f"{__name__}:Adding", "story", "Adding has no method context; a memory has add and context"),
        (f"{__name__}:Empty", "story", "Empty.context gave a NoneType; give a text"),
        (OWN, "nothing", "there is no file nothing; python -m tests.fork write prints a story"),
        (OWN, "empty", "there is no story in empty; python -m tests.fork write prints one"),
        (OWN, "odd", "odd, line 1: '{}\\n' is no record of a story"),
        (OWN, "short", "there are no questions; a story has four after every five turns"),
    ],
)
def test_what_is_no_memory_or_no_story_is_said(
    memory: str, stories: str, said: str, shell: Callable[..., str | None]
) -> None:
    """In one line, with what to give instead."""
    assert (shell("run", memory, stories) or "").startswith(PROG + said)


def test_the_readme_says_what_each_figure_is(
    shell: Callable[..., str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    """By the keys of the JSON."""
    assert shell("run", OWN, "story") is None
    _, _, section = proof.FIGURES.with_name("README.md").read_text(encoding="utf-8").partition("### The figures")
    rows = re.findall(r"^\| (`.*?) \|", section.partition("\n## ")[0], re.M)
    assert sorted(json.loads(capsys.readouterr().out)) == sorted(re.findall("`(.+?)`", " ".join(rows)))


def test_another_format_is_refused() -> None:
    """A story of a later format is not played by the rules of this one."""
    with pytest.raises(ValueError, match="story of format 1"):
        run([{"type": "story", "format": 2}], Last3, estimate)


def test_the_page_shows_the_figures() -> None:
    """As they were measured, for every memory."""
    found = json.loads(proof.FIGURES.read_text(encoding="utf-8"))
    text = proof.PAGE.read_text(encoding="utf-8")
    assert proof.page(text, found) == text, "run proof.write_page()"
    assert "Tokens are an estimate." in proof.tables({**found, "counted": "an estimate"})
    for rates in found["cells"].values():
        for cell in rates.values():
            assert set(cell) <= set(MEMORIES)
            assert {"last3", "history", "bm25-40", "saga"} <= set(cell)
