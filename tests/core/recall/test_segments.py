"""An index put together from segments answers as one that read every text."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.language.tokens import terms
from saga_core.recall.lexical import SIZE, VERSION, LexicalIndex, Segment, mark_of, pack, unpack

WORDS = "크룩 열쇠 숲에서 검을 에르겐에게 key keys goblin forest 고대 유적 약초 forge dark 漢字 Ünïcode 12".split()
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=16)
queries = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def named(found: list[str]) -> dict[str, str]:
    return {f"t{number:02}": text for number, text in enumerate(found)}


def index_of(documents: dict[str, str]) -> LexicalIndex:
    index = LexicalIndex()
    for id_, text in documents.items():
        index.add(id_, text)
    return index


def segment_of(documents: dict[str, str]) -> bytes:
    return index_of(documents).packed(list(documents.values()))


@given(texts, st.lists(st.integers(0, 16), max_size=3), st.lists(st.booleans(), min_size=4, max_size=4), queries)
def test_segments_and_texts_in_any_order_are_one_index(
    found: list[str], cuts: list[int], packed: list[bool], query: str
) -> None:
    documents = list(named(found).items())
    bounds = [0, *sorted(min(cut, len(documents)) for cut in cuts), len(documents)]
    index = LexicalIndex()
    for start, stop, as_segment in zip(bounds, bounds[1:], packed, strict=False):
        part = dict(documents[start:stop])
        if as_segment:
            index.take(unpack(segment_of(part)), list(part.values()))
        else:
            for id_, text in part.items():
                index.add(id_, text)
    plain = index_of(dict(documents))
    assert index.search(query, k=50) == plain.search(query, k=50)
    assert len(index) == len(plain) and all(id_ in index for id_, _ in documents)
    assert index.search(query, k=50) == plain.search(query, k=50), "asked for the second time"


@given(texts.filter(bool), queries, st.data())
def test_documents_of_segments_are_removed_and_replaced(found: list[str], query: str, data: st.DataObject) -> None:
    documents = named(found)
    index = LexicalIndex()
    index.take(unpack(segment_of(documents)), list(documents.values()))
    if data.draw(st.booleans()):
        index.search(query, k=3)
    gone = data.draw(st.sampled_from(sorted(documents)))
    if data.draw(st.booleans()):
        index.remove(gone, data.draw(st.sampled_from((None, documents[gone], "another"))))
        del documents[gone]
    else:
        documents[gone] = data.draw(st.sampled_from(WORDS))
        index.add(gone, documents[gone])
    index.add("late", "열쇠 key")
    documents["late"] = "열쇠 key"
    assert index.search(query, k=50) == index_of(documents).search(query, k=50)
    assert sorted(index.search(query, k=50)) == sorted(index_of(documents).search(query, k=50))


@given(texts)
def test_a_segment_says_what_it_was_made_of(found: list[str]) -> None:
    documents = named(found)
    segment = unpack(segment_of(documents))
    assert segment.ids == tuple(documents)
    assert list(segment.marks) == [mark_of(text) for text in documents.values()]
    assert list(segment.terms) == sorted({term for text in found for term in terms(text)})
    assert segment.size_bytes >= 3 * len(segment.numbers) + 100 * len(found)


@given(st.binary(max_size=80) | st.integers(0, 200).map(lambda cut: segment_of(named(WORDS))[:cut]))
def test_what_is_no_segment_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="segment"):
        unpack(raw)


def test_a_run_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match=r"range\(0, 256\)"):
        unpack(pack([(str(number), 0) for number in range(SIZE + 1)], [("a", [SIZE], [1])]))


def test_a_segment_of_another_version_is_refused() -> None:
    raw = segment_of(named(WORDS))
    with pytest.raises(ValueError, match="version"):
        unpack(raw[:3] + bytes([VERSION + 1]) + raw[4:])


def test_terms_and_weights_are_those_of_this_version() -> None:
    """Segments outlive the program that made them. When this fails, raise ``VERSION`` and write the new fingerprint."""
    sample = {
        "a": "에르겐이 어둠의 숲에서 불꽃 검을 들고, 고블린왕 크룩에게 다가갔다. "
        "나이 12살의 소년도 있었다. 일곱 명이었다.",
        "b": "The goblins' keys were hidden; Maren's running horses stopped! Straße naïve 漢字かな кот 3.14 three",
        "c": "에르겐이 에르겐이 the the forest",
    }
    assert hashlib.blake2b(segment_of(sample), digest_size=8).hexdigest() == "3ec5987b16f9bcff"


def test_to_remove_a_known_text_reads_no_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of texts are replaced when a place is corrected, and each has terms that no other has."""
    documents = {f"d{number}": f"word{number} lamp" for number in range(8)}
    index = LexicalIndex()
    index.take(unpack(segment_of(documents)), list(documents.values()))
    with monkeypatch.context() as patch:
        patch.delattr(Segment, "find")
        for id_ in ("d1", "d2"):
            index.remove(id_, documents[id_])
            index.add(id_, "bridge")
            index.remove(id_, "bridge")
    assert "lamp" in index.common(5) and index.common(6) == set()
    assert sorted(id_ for id_, _ in index.search("lamp word1 word3", k=9)) == ["d0", "d3", "d4", "d5", "d6", "d7"]
