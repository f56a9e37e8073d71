"""The lexical index against BM25 written out, and what must not matter."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.language.tokens import terms
from saga_core.recall import lexical
from saga_core.recall.lexical import Feedback, LexicalIndex, unpack

WORDS = "크룩 열쇠 숲에서 검을 에르겐에게 key keys goblin forest 고대 유적 약초 forge dark".split()
documents = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join), max_size=14)
queries = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def index_of(texts: dict[str, str]) -> LexicalIndex:
    index = LexicalIndex()
    for id_, text in texts.items():
        index.add(id_, text)
    return index


def bm25(texts: dict[str, str], query: str) -> dict[str, float]:
    """BM25 with a fixed pivot of 160 terms, k1 1.2, b 0.75. Single Korean syllables do not make a document longer."""
    bags = {id_: Counter(terms(text)) for id_, text in texts.items()}
    scores = {}
    for id_, bag in bags.items():
        score = 0.0
        for term in set(terms(query)):
            with_term = sum(term in other for other in bags.values())
            weight = log(1 + (len(bags) - with_term + 0.5) / (with_term + 0.5))
            length = sum(times for term, times in bag.items() if len(term) > 1 or term.isascii())
            norm = 1.2 * (0.25 + 0.75 * length / 160)
            score += weight * bag[term] * 2.2 / (bag[term] + norm)
        if score:
            scores[id_] = score
    return scores


def named(texts: list[str]) -> dict[str, str]:
    return {f"t{number:02}": text for number, text in enumerate(texts)}


@given(documents, queries)
def test_scores_are_bm25(texts: list[str], query: str) -> None:
    expected = bm25(named(texts), query)
    found = dict(index_of(named(texts)).search(query, k=50))
    assert found.keys() == expected.keys()
    for id_, score in found.items():
        assert score == pytest.approx(expected[id_], rel=2e-3)


@given(documents, queries, st.randoms(use_true_random=False), st.integers(1, 20))
def test_the_order_of_adding_does_not_matter(texts: list[str], query: str, rng: random.Random, k: int) -> None:
    items = list(named(texts).items())
    rng.shuffle(items)
    assert index_of(dict(items)).search(query, k=k) == index_of(named(texts)).search(query, k=k)


@given(documents, queries, st.data())
def test_what_was_removed_was_never_there(texts: list[str], query: str, data: st.DataObject) -> None:
    everything = named(texts)
    gone = data.draw(st.sets(st.sampled_from(sorted(everything)))) if everything else set()
    index = index_of(everything)
    for id_ in sorted(gone):
        index.remove(id_, data.draw(st.sampled_from((None, everything[id_], "another text"))))
        index.remove(id_)
    rest = {id_: text for id_, text in everything.items() if id_ not in gone}
    assert index.search(query, k=50) == index_of(rest).search(query, k=50)
    assert len(index) == len(rest) and all(id_ not in index for id_ in gone)


@given(documents, queries, st.integers(1, 5))
def test_accept_leaves_the_best_of_the_rest(texts: list[str], query: str, k: int) -> None:
    index = index_of(named(texts))

    def even(id_: str) -> bool:
        return int(id_[1:]) % 2 == 0

    expected = [hit for hit in index.search(query, k=50) if even(hit[0])][:k]
    assert index.search(query, k=k, accept=even) == expected


def test_adding_again_changes_nothing_and_another_text_replaces() -> None:
    index = index_of({"a": "열쇠", "b": "검"})
    before = index.search("열쇠 검", k=9), index.size_bytes
    index.add("a", "열쇠")
    assert (index.search("열쇠 검", k=9), index.size_bytes) == before
    index.add("a", "약초")
    assert index.search("열쇠", k=9) == [] and [id_ for id_, _ in index.search("약초", k=9)] == ["a"]


def test_ties_are_ordered_by_id() -> None:
    index = index_of({"c": "열쇠 하나", "a": "열쇠 둘둘", "b": "열쇠 셋셋"})
    ids = [id_ for id_, _ in index.search("열쇠", k=3)]
    assert ids == ["a", "b", "c"]


def test_korean_and_english_are_found_in_other_inflections() -> None:
    index = index_of(
        {"ko": "크룩은 고대 열쇠를 삼켰다.", "en": "The goblin attacked near the forges.", "x": "비가 온다."}
    )
    assert index.search("열쇠가 어디 있지?", k=1)[0][0] == "ko"
    assert index.search("who attacks the forge", k=1)[0][0] == "en"
    assert index.search(unicodedata.normalize("NFD", "열쇠"), k=1) == index.search("열쇠", k=1)
    assert index.search("", k=3) == [] == index.search("존재하지않음", k=3)


def test_a_rare_word_decides_among_thousands_that_share_the_common_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    index = LexicalIndex()
    for number in range(3_000):
        index.add(f"t{number:05}", f"크룩과 숲에서 걸었다 {number}")
    index.add("t00777x", "크룩과 숲에서 잃은 은방울을 찾았다")
    assert index.search("크룩과 숲에서 은방울", k=1)[0][0] == "t00777x"
    monkeypatch.setattr(lexical, "POSTINGS", 10**9)
    assert index.search("크룩과 숲에서 은방울", k=1)[0][0] == "t00777x"


def test_the_work_of_a_query_is_bounded() -> None:
    index = LexicalIndex()
    for number in range(4_000):
        index.add(f"t{number:05}", f"크룩과 숲에서 걸었다 {number % 7}")
    asked: list[str] = []

    def none(id_: str) -> bool:
        asked.append(id_)
        return False

    assert index.search("크룩과 숲에서 걸었다 3", k=5, accept=none) == []
    assert len(asked) == lexical.ACCEPTS == len(set(asked))


def test_common_words_that_were_not_read_still_count_for_the_best() -> None:
    index = LexicalIndex()
    for number in range(1_500):
        index.add(f"a{number:05}", "숲길을 걸었다")
    index.add("b1", "은방울 소리")
    index.add("b2", "은방울 숲길")
    assert [id_ for id_, _ in index.search("은방울 숲길", k=2)] == ["b2", "b1"]


def test_the_size_grows_with_what_is_in_it() -> None:
    index = LexicalIndex()
    empty = index.size_bytes
    index.add("a", "크룩은 고대 열쇠를 삼켰다")
    grown = index.size_bytes
    assert grown > empty
    index.remove("a")
    assert index.size_bytes < grown


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("역이 바로 옆이라 다니기가 수월했습니다", "숙소가 역에서 가까웠어요", "답장을 빨리 했습니다"),
        ("왕이 세금을 올렸어요", "세금은 왕의 명령으로 두 배", "여관에서 잠들었어요"),
        ("did she drop the lantern", "the old lantern broke", "she did the rest"),
    ],
)
def test_how_a_sentence_ends_or_asks_counts_little(query: str, right: str, wrong: str) -> None:
    assert index_of({"right": right, "wrong": wrong}).search(query, k=1)[0][0] == "right"


def test_words_of_what_was_found_first_bring_what_shares_no_word_with_the_query() -> None:
    texts = {f"t{at}": f"Nothing of note happened in week {at}." for at in range(40)}
    texts["told"] = "The lighthouse keeper is called Orrin Vale."
    texts["later"] = "Orrin Vale drowned last winter."
    texts["apart"] = "The harbour froze last spring."
    index = LexicalIndex()
    for id_, text in texts.items():
        index.add(id_, text)
    plain = dict(index.search("Who keeps the lighthouse?", k=10))
    fed = dict(index.search("Who keeps the lighthouse?", k=10, feedback=0.3, text=texts.__getitem__))
    assert "later" not in plain and plain["apart"] > 0
    assert fed["apart"] < fed["later"] < fed["told"]
    assert fed["told"] > plain["told"]
    assert index.search("unheard", k=10, feedback=0.3, text=texts.__getitem__) == []


def test_only_seldom_words_of_the_parts_that_are_told_are_searched_for_and_what_they_brought_is_told_apart() -> None:
    texts = {f"t{at}": f"Nothing of note happened in week {at} by the river." for at in range(40)}
    texts["told"] = "The river rose. The lighthouse keeper is called Orrin. Tarn sold boats."
    texts["later"] = "Orrin drowned last winter."
    texts["apart"] = "Tarn moved away."
    index = LexicalIndex()
    for id_, text in texts.items():
        index.add(id_, text)

    def found(told: str, seldom: int) -> tuple[dict[str, float], dict[str, float]]:
        fed = Feedback()
        scores = index.search(
            "What of the lighthouse?",
            k=50,
            feedback=0.3,
            text=texts.__getitem__,
            told=lambda each: [told] * len(each),
            seldom=seldom,
            fed=fed,
        )
        return dict(scores), fed.brought

    scores, fed = found("The keeper by the river is called Orrin.", 5)
    assert set(fed) == {"told", "later"} and scores["later"] == fed["later"] and scores["told"] > fed["told"] > 0
    assert "t3" in found("The keeper by the river is called Orrin.", 50)[1], "no word was too common"


def test_in_how_many_documents_a_term_stands() -> None:
    index = LexicalIndex()
    for number in range(20):
        index.add(f"d{number}", "kiln" if number == 7 else "day" if number % 2 else "day dog")
    assert [index.having(term)[0] for term in ("cat", "kiln", "day", "dog")] == [0, 1, 19, 10]


@given(documents, st.integers(0, 3), st.integers(0, 14), st.booleans())
def test_common_terms_are_those_in_more_documents_whenever_it_was_asked_before(
    texts: list[str], most: int, first: int, removed: bool
) -> None:
    index = LexicalIndex()
    for at, (id_, text) in enumerate(named(texts).items()):
        if at == first:
            index.common(most)
        index.add(id_, text)
    if removed and texts:
        index.remove("t00")
    kept = texts[1:] if removed else texts
    counted = Counter(term for text in kept for term in set(terms(text)))
    assert index.common(most) == {term for term, count in counted.items() if count > most}


def test_common_terms_count_those_of_segments_and_of_what_came_later() -> None:
    texts = {"a": "goblin key", "b": "goblin forge"}
    index = LexicalIndex()
    index.take(unpack(index_of(texts).packed(list(texts.values()))), list(texts.values()))
    assert index.common(1) == set(terms("goblin"))
    index.add("c", "forge dark")
    assert index.common(1) == set(terms("goblin forge"))
    assert index.common(2) == set()
    index.search("goblin forge", k=3)
    assert index.common(0) == set(terms("goblin key forge dark"))
