"""The turns of a path among those of a tree, and what is shown of one."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.model.tree import Node, Tree
from saga_core.model.turn import TurnKind
from saga_core.projection.episodes import spoken_day
from saga_core.recall.episodes import PathEpisodes
from saga_core.recall.excerpts import excerpt
from saga_core.recall.lexical import LexicalIndex
from saga_core.recall.passages import passage_of, year_of


def grow(parents: dict[str, str | None], episodes: dict[str, str]) -> tuple[Tree, LexicalIndex]:
    tree, index = Tree("s"), LexicalIndex()
    for id_, parent in parents.items():
        depth = tree.get(parent).depth + 1 if parent else 0
        jump = tree.jump_for(parent) if parent else None
        text = episodes.get(id_, "")
        tree.add(Node(id_, parent, depth, 0.0, TurnKind.NARRATION, jump=jump, episode=text))
        if text:
            index.add(id_, text)
    return tree, index


# r - a - b - c
#       \ x - y
TREE, INDEX = grow(
    {"r": None, "a": "r", "b": "a", "c": "b", "x": "a", "y": "x"},
    {"a": "열쇠를 얻었다", "b": "열쇠를 잃었다", "x": "열쇠를 삼켰다", "y": "비가 왔다"},
)


def test_only_turns_of_the_path_are_found() -> None:
    assert set(PathEpisodes(TREE, INDEX, "c").search("열쇠", 9, frozenset())) == {"a", "b"}
    assert set(PathEpisodes(TREE, INDEX, "y").search("열쇠", 9, frozenset())) == {"a", "x"}
    assert set(PathEpisodes(TREE, INDEX, "y").search("열쇠", 9, frozenset({"a"}))) == {"x"}


def test_turns_by_depth() -> None:
    path = PathEpisodes(TREE, INDEX, "y")
    assert [path.at(depth) for depth in range(-1, 5)] == [None, None, "a", "x", "y", None]
    assert path.last == 3 and path.depth("x") == 2 and path.text("x") == "열쇠를 삼켰다"
    assert [turn for turn in ("r", "a", "b", "c", "x", "y", "?") if path.on_path(turn)] == ["a", "x", "y"]


STORY = "장소는 숲이다. 크룩이 웃었다. 그는 열쇠를 삼켰다고 말했다. 비가 왔다. 아리아는 말이 없었다. 밤이 왔다."


def test_the_excerpt_is_what_is_asked_about() -> None:
    found = excerpt(STORY, ["열쇠", "말했다"], 45)
    assert "열쇠를 삼켰다고 말했다." in found and found.startswith("… ") and found.endswith(" …")
    assert excerpt(STORY, ["장소"], 24) == "장소는 숲이다. 크룩이 웃었다. …"
    assert excerpt(STORY, [], 24).startswith("장소는 숲이다.")
    assert excerpt("짧은\n글", ["x"], 40) == "짧은 글"
    assert excerpt("열쇠를 주웠다. 열쇠는 검고 열쇠는 차다. 비가 왔다. 밤이 깊었다.", ["열쇠", "검고"], 30) == (
        "열쇠를 주웠다. 열쇠는 검고 열쇠는 차다. …"
    )


def test_a_long_sentence_is_cut_around_the_word() -> None:
    text = "가" * 200 + " 열쇠를 " + "나" * 200
    found = excerpt(text, ["열쇠"], 60)
    assert "열쇠를" in found and len(found) <= 60


@given(st.text(st.sampled_from("가나다 .!?\nab…”"), max_size=200), st.lists(st.sampled_from("가 나다 ab".split())))
@pytest.mark.parametrize("limit", [20, 80])
def test_an_excerpt_fits_and_is_one_line(limit: int, text: str, words: list[str]) -> None:
    found = excerpt(text, words, limit)
    assert len(found) <= limit and "\n" not in found
    assert bool(found) == bool(text.strip())
    for part in found.strip("… ").split():
        assert part in text


def test_letters_that_fold_to_several_keep_their_places() -> None:
    text = "Ein Anfang ohne Belang. " + "Die große Straße, STRAẞE und ﬁn. " + "Viel mehr steht hier nicht geschrieben."
    assert excerpt(text, ["und"], 50) == "… Die große Straße, STRAẞE und ﬁn. …"


@given(st.dates())
def test_a_day_tells_its_year_and_the_rest_of_it(day: date) -> None:
    year, rest = year_of(spoken_day(day, "en"))
    assert year == str(day.year) and spoken_day(day, "en") == f"{rest} {year}"
    year, rest = year_of(spoken_day(day, "ko"))
    assert year == str(day.year) and spoken_day(day, "ko") == f"{year}년 {rest}"


@pytest.mark.parametrize("text", ["", "place: inn", "Turn 8 | 8 May 2023", "8 May", "2023년", "met: 8 May 2023"])
def test_what_is_no_day_has_no_year(text: str) -> None:
    assert year_of(text) == ("", "")


@pytest.mark.parametrize(
    ("episode", "passage"),
    [
        ("Turn 12 | place: inn\n> Hello.\nMara nods.", "place: inn\n> Hello.\nMara nods."),
        ("Turn 12\nMara nods.", "Mara nods."),
        ("Turn 3 | 장소: 숲", "장소: 숲"),
        ("8 May 2023\nMelanie: My kitten sleeps.", "Melanie: My kitten sleeps."),
        ("2023년 5월 8일\n지수: 고양이가 자.", "지수: 고양이가 자."),
        ("\nMelanie: My kitten sleeps.", "Melanie: My kitten sleeps."),
        ("Turn 12", "Turn 12"),
        ("place: inn | met: Mara", "place: inn | met: Mara"),
    ],
)
def test_an_embedder_is_given_neither_number_nor_day(episode: str, passage: str) -> None:
    assert passage_of(episode) == passage
