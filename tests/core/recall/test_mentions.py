"""One pass over a text finds exactly the names that ``korean.mentions`` finds one by one."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from saga_core.language import is_hangul, mentions
from saga_core.recall.mentions import NameIndex, Passage, fold_text

PIECES = [*"성 여성 숲 어둠 의 에서 은 이 크룩 문 King king the Goblin . , ' _ - 『 』 \n 3".split(" "), " ", "  "]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join).filter(str.strip)


def found(text: str, *several: str) -> list[str]:
    index = NameIndex((name, (name,)) for name in several)
    return sorted(index.found_in(Passage.of(text)))


@given(texts, st.lists(names, max_size=8, unique=True))
def test_equals_the_rule_name_by_name(text: str, several: list[str]) -> None:
    folded = fold_text(text)
    expected = set()
    for name in several:
        form = fold_text(name)
        joined = form.replace(" ", "")
        forms = {form, joined} if is_hangul(joined[0]) and joined.isalnum() else {form}
        if any(mentions(folded, each) for each in forms):
            expected.add(name)
    assert found(text, *several) == sorted(expected)


def test_a_name_is_no_part_of_another_word() -> None:
    assert found("여성이 성문을 지났다.", "성") == []
    assert found("성의 뜰에 섰다. 성!", "성") == ["성"]


def test_particles_case_and_spaces() -> None:
    assert found("고블린왕 크룩에게서 어둠의숲으로", "고블린왕 크룩", "어둠의 숲", "크룩") == [
        "고블린왕 크룩",
        "어둠의 숲",
        "크룩",
    ]
    assert found("KRUK, the goblin\nking!", "Kruk", "the goblin king", "gob") == ["Kruk", "the goblin king"]


def test_no_name_reaches_from_one_text_into_the_next() -> None:
    index = NameIndex([(1, ("어둠의 숲",))])
    assert index.found_in(Passage.of("어둠의", "숲")) == set()
    assert index.found_in(Passage.of("어둠의\n숲")) == {1}


@given(texts, st.lists(names, min_size=1, max_size=5))
def test_both_normal_forms_agree(text: str, several: list[str]) -> None:
    composed = NameIndex((name, (name,)) for name in several)
    decomposed = NameIndex((name, (unicodedata.normalize("NFD", name),)) for name in several)
    passage = Passage.of(unicodedata.normalize("NFD", text))
    assert composed.found_in(Passage.of(text)) == decomposed.found_in(passage)


def test_one_name_may_mean_two_things_and_one_thing_have_two_names() -> None:
    index = NameIndex([("forge", ("대장간", "광장")), ("square", ("광장",))])
    assert index.found_in(Passage.of("광장으로")) == {"forge", "square"}
    assert index.found_in(Passage.of("대장간에")) == {"forge"}


def test_names_are_cut_out_with_their_particles() -> None:
    index = NameIndex([(1, ("크룩",)), (2, ("Elder Maren",)), (3, ("성",))])
    assert index.cut_from("크룩에게  열쇠를 물었다, Elder Maren's key") == "열쇠를 물었다, 's key"
    assert index.cut_from("여성은 성에 있다") == "여성은 있다"
    assert index.cut_from("아무도 없다") == "아무도 없다"
    assert index.cut_from("Elder Marens, Elder brother; Elder Maren에게 간다") == "Elder Marens, Elder brother; 간다"
    assert index.cut_from("İ 성 İ") == "i̇ i̇"
    both = NameIndex([(1, ("어둠의 숲",)), (2, ("숲",)), (3, ("", " "))])
    assert both.cut_from("어둠의 숲으로 간다") == "간다"
    assert both.found_in(Passage.of("어둠의 숲으로")) == {1, 2}


@given(texts, st.lists(names, max_size=5))
def test_what_was_cut_is_not_found_again(text: str, several: list[str]) -> None:
    index = NameIndex((name, (name,)) for name in several if " " not in name.strip() and name.isalnum())
    assert index.found_in(Passage.of(index.cut_from(text))) == set()
