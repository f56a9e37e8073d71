"""SAGA in the fork test, and the page with the figures."""

from __future__ import annotations

import json
from typing import Any

import pytest

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
