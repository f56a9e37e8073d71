"""Packing: never too much, never by luck."""

from __future__ import annotations

import random
from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from saga_core.config.model import TokenBudget
from saga_core.context.model import (
    MUST_COMPANY,
    MUST_DEAD,
    MUST_ESSENTIALS,
    Packed,
    Piece,
    Section,
    Slot,
    ceilings,
    labels,
    pack,
)
from tests.core.context.reading_stage import WordCounter

COUNT = WordCounter().count
OPEN = dict.fromkeys(Section, 10**6)

pieces = st.lists(
    st.builds(
        Piece,
        st.sampled_from(("a", "b")),
        st.sampled_from([f"k{number}" for number in range(12)]),
        st.sampled_from(list(Section)),
        st.text("가나 abc", min_size=1, max_size=90).filter(str.strip),
        st.sampled_from((0.5, 1.0, 2.0, 3.25, 100.0)),
        order=st.integers(0, 4),
        shorter=st.lists(st.just("짧게"), max_size=1).map(tuple),
    ),
    max_size=16,
)


def packed(found: list[Piece], most: int = 10**6, limits: dict[Section, int] | None = None) -> Packed:
    return pack(found, most=most, ceilings=limits or OPEN, count=COUNT, words=labels("ko"), language="ko")


@given(pieces, st.integers(0, 120), st.integers(0, 40))
def test_neither_the_whole_nor_a_section_exceeds_its_ceiling(found: list[Piece], most: int, limit: int) -> None:
    limits = dict.fromkeys(Section, limit)
    result = packed(found, most, limits)
    assert result.tokens <= most or not result.chosen
    assert result.tokens == (COUNT(result.text) if result.text else 0)
    for section in Section:
        inside = [piece for piece in result.chosen if piece.section is section]
        heading = COUNT(section.headed(labels("ko"))) + 1 if inside else 0
        assert sum(piece.tokens for piece in inside) + heading <= max(limit, 0)


@given(pieces, st.integers(0, 120), st.randoms(use_true_random=False))
def test_the_order_of_the_pieces_does_not_matter(found: list[Piece], most: int, rng: random.Random) -> None:
    unique = list({(piece.source, piece.key, piece.section, piece.score): piece for piece in found}.values())
    mixed = rng.sample(unique, len(unique))
    assert packed(mixed, most) == packed(unique, most)


@given(pieces)
def test_with_room_for_all_only_repeats_are_left_out(found: list[Piece]) -> None:
    result = packed(found)
    assert result.skipped == ()
    assert {piece.key for piece in result.chosen} <= {piece.key for piece in found}
    assert len({piece.key for piece in result.chosen}) == len(result.chosen)
    for piece in found:
        said = any(one.section is piece.section and one.text == piece.text for one in result.chosen)
        assert said or any(one.key == piece.key for one in result.chosen)


@given(pieces, st.integers(0, 100))
def test_a_choice_is_never_worse_with_more_room_for_the_best(found: list[Piece], most: int) -> None:
    small, large = packed(found, most), packed(found, most + 400)
    if small.chosen:
        assert large.chosen[0].score >= small.chosen[0].score - 1e-6


def piece(key: str, tokens: int, score: float, section: Section = Section.LORE) -> Piece:
    return Piece("s", key, section, (key * tokens * 4)[: tokens * 4], score)


def test_what_does_not_fit_is_skipped_and_smaller_pieces_follow() -> None:
    result = packed([piece("a", 50, 3), piece("b", 500, 2), piece("c", 10, 1)], limits={**OPEN, Section.LORE: 100})
    assert [each.key for each in result.chosen] == ["a", "c"]
    assert [each.key for each in result.skipped] == ["b"] and result.skipped[0].tokens > 500


def test_room_that_one_section_leaves_is_there_for_the_others() -> None:
    limits = ceilings(TokenBudget(dynamic_context_max=300, lorebook_max=250, graph_context_max=250))
    lore = [piece(f"{number}", 40, 2) for number in range(9)]
    alone = packed(lore, 300, limits)
    beside = packed([*lore, *(piece(f"g{number}", 40, 3, Section.RELATED) for number in range(3))], 300, limits)
    assert sum(each.section is Section.LORE for each in alone.chosen) == 5
    assert sum(each.section is Section.LORE for each in beside.chosen) == 3


def test_the_better_of_two_pieces_with_one_key_counts() -> None:
    changed = piece("relation", 5, 6, Section.NOW)
    line = evolve(piece("relation", 5, 6.5, Section.RELATED), source="z")
    assert [each.source for each in packed([changed, line]).chosen] == ["z"]


def test_a_shorter_text_is_used_when_the_long_one_does_not_fit() -> None:
    essential = Piece("s", "k", Section.NOW, "가" * 400, MUST_ESSENTIALS, shorter=("가" * 200, "나" * 40))
    assert packed([essential], limits={**OPEN, Section.NOW: 30}).chosen[0].text == "나" * 40
    assert packed([essential], limits={**OPEN, Section.NOW: 80}).chosen[0].text == "가" * 200
    assert packed([essential], limits={**OPEN, Section.NOW: 5}).skipped == (evolve(essential, tokens=102),)


def test_a_required_piece_leaves_room_for_the_shortest_text_of_the_next() -> None:
    essential = Piece("s", "k", Section.NOW, "가" * 400, MUST_ESSENTIALS, shorter=("가" * 200, "나" * 40))
    company = Piece("s", "c", Section.NOW, "다" * 100, MUST_COMPANY, shorter=("다" * 60,))
    for room, texts in {
        150: ["가" * 400, "다" * 100],
        125: ["가" * 400, "다" * 60],
        80: ["가" * 200, "다" * 60],
        60: ["나" * 40, "다" * 100],
        35: ["나" * 40, "다" * 60],
        20: ["나" * 40],
    }.items():
        assert [each.text for each in packed([essential, company], limits={**OPEN, Section.NOW: room}).chosen] == texts


def test_lines_that_cost_more_together_than_alone_are_cut_from_the_end() -> None:
    def whole_texts_cost_double(text: str) -> int:
        return len(text) * (2 if "\n" in text else 1)

    found = [piece("a", 10, 3), piece("b", 10, 2)]
    result = pack(found, most=140, ceilings=OPEN, count=whole_texts_cost_double, words=labels("en"), language="en")
    assert result.tokens <= 140 or not result.chosen
    assert [each.key for each in (*result.chosen, *result.skipped)] == ["a", "b"] and result.skipped


def test_the_dead_are_told_before_everything_else() -> None:
    dead = Piece("deaths", "dead:c1", Section.NOW, "크룩", MUST_DEAD, order=Slot.DEAD)
    rest = [piece(f"p{number}", 8, 120 - number, Section.NOW) for number in range(5)]
    result = packed([*rest, dead], limits={**OPEN, Section.NOW: 15})
    assert result.chosen[0].key == "dead:c1"


def test_nothing_to_tell_is_no_text() -> None:
    assert packed([]) == Packed("", 0, (), ())
    assert packed([piece("a", 10, 1)], most=3).text == ""


def test_room_that_lines_together_do_not_need_is_given_to_what_was_skipped() -> None:
    def count(text: str) -> int:
        return len(text.split()) + 3  # each text for itself costs more than all of them in one

    pieces = [piece(f"p{number}", 10, 9 - number / 10, Section.LORE) for number in range(40)]
    options: Any = {"count": count, "words": labels("en"), "language": "en"}
    once = pack(pieces, most=120, ceilings=OPEN, **options)
    assert 60 < once.tokens <= 120 < sum(each.tokens for each in once.chosen)
    assert {each.key for each in once.chosen} | {each.key for each in once.skipped} == {each.key for each in pieces}
    assert [each.score for each in once.chosen] == sorted((each.score for each in once.chosen), reverse=True)
    within = pack(pieces, most=120, ceilings=dict.fromkeys(Section, 60), **options)
    assert sum(each.tokens for each in within.chosen) <= 60


def test_a_line_costs_what_is_told_of_it_below_those_that_begin_alike() -> None:
    def line(at: int, day: str, year: str) -> Piece:
        said, under = f"word{at} " * 8, f"{day} of a long and tedious calendar {year}"
        brief, key = f"{day} — {said}", f"turn:{at}"
        return Piece("s", key, Section.EARLIER, f"{under} — {said}", 9 - at, 0, {}, at, (), under, said, year, brief)

    first, same_day, same_year, other_year = lines = [
        line(1, "Monday", "1"),
        line(2, "Monday", "1"),
        line(3, "Tuesday", "1"),
        line(4, "Friday", "2"),
    ]
    tokens = {each.key: each.tokens for each in packed(lines).chosen}
    assert tokens[first.key] == COUNT(first.text) + 2
    assert tokens[same_day.key] == COUNT(same_day.bare) + 2
    assert tokens[same_year.key] == COUNT(same_year.brief) + 2 < COUNT(same_year.text)
    assert tokens[other_year.key] == COUNT(other_year.text) + 2
