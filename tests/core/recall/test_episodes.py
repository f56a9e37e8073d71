"""The turns of a path among those of a tree: found by their words, by their depth and by when they were played."""

from __future__ import annotations

from saga_core.model.tree import ReportStatus, Tree, TurnKind, TurnNode
from saga_core.recall.episodes import PathEpisodes
from saga_core.recall.lexical import LexicalIndex


def grow(parents: dict[str, str | None], episodes: dict[str, str]) -> tuple[Tree, LexicalIndex]:
    tree, index = Tree("s"), LexicalIndex()
    for id_, parent in parents.items():
        depth = tree.get(parent).depth + 1 if parent else 0
        jump = tree.jump_for(parent) if parent else None
        text = episodes.get(id_, "")
        tree.add(TurnNode(id_, parent, depth, 0.0, TurnKind.NARRATION, jump=jump, episode=text))
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


def line(*episodes: str) -> PathEpisodes:
    """A path of turns, played every ten seconds, with what is remembered of each."""
    names = [f"t{number}" for number in range(len(episodes))]
    parents: dict[str, str | None] = dict(zip(names, [None, *names], strict=False))
    tree, index = grow(parents, dict(zip(names, episodes, strict=True)))
    for name in names:
        node = tree.get(name)
        tree.replace(
            TurnNode(name, node.parent, node.depth, node.depth * 10.0, node.kind, jump=node.jump, episode=node.episode)
        )
    return PathEpisodes(tree, index, names[-1])


def test_what_stands_beside_a_find_follows_it_where_it_has_a_score_of_its_own() -> None:
    path = line(
        "", "the key of the key", "a key and a very long list of other things that weigh it down", "rain", "the key"
    )
    best = path.search("key", 1, frozenset())
    assert list(best) == ["t1"]
    assert set(path.search("key", 1, frozenset(), reach=1)) == {"t1", "t2"}
    assert set(path.search("key", 1, frozenset(), reach=3)) == {"t1", "t2", "t4"}
    assert set(path.search("key", 1, frozenset({"t2"}), reach=1)) == {"t1"}
    assert path.search("nothing", 5, frozenset(), reach=2) == {}


def test_scores_fall_from_the_best() -> None:
    scores = line("", "열쇠 열쇠 열쇠", "비가 오고 바람이 부는 날 열쇠", "밤").search("열쇠", 5, frozenset())
    assert list(scores) == ["t1", "t2"] and scores["t1"] > scores["t2"] > 0


def test_since_when_a_turn_was_played() -> None:
    path = line("", "a", "b", "c")
    assert [path.since(moment) for moment in (-5.0, 0.0, 10.0, 10.1, 30.0, 31.0)] == [0, 0, 1, 2, 3, 4]


def test_who_was_there_is_as_the_node_has_it() -> None:
    tree, index = Tree("s"), LexicalIndex()
    tree.add(TurnNode("r", None, 0, 0.0, TurnKind.ROOT, episode="x"))
    tree.add(
        TurnNode("a", "r", 1, 0.0, TurnKind.NARRATION, episode="y", present=("c1",), status=ReportStatus.OK, jump="r")
    )
    tree.add(TurnNode("b", "a", 2, 0.0, TurnKind.NARRATION, episode="z", present=("c1",), jump="r"))
    path = PathEpisodes(tree, index, "b")
    assert path.present("a") == ("c1",) and path.present("r") is None and path.present("b") is None


def test_words_of_a_turn_that_was_told_anew_again_and_again_are_counted_once() -> None:
    swipes = {f"s{number}": "a" for number in range(8)}
    tree, index = grow({"r": None, "a": "r", **swipes}, {"a": "비가 왔다", **dict.fromkeys(swipes, "열쇠를 얻었다")})
    assert index.having("열쇠")[0] == 8
    assert PathEpisodes(tree, index, "s3").spread("열쇠", 3) == 1
    assert PathEpisodes(tree, index, "a").spread("열쇠", 3) == 0
