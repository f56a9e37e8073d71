"""The story of the pages tells each thing once, in whatever form it was kept."""

from __future__ import annotations

from saga_core.model import Happening, StoryPart, WorldState
from saga_core.projection.story import clauses, story_lines, story_within
from saga_core.recall.excerpts import excerpt

NOTES = tuple((depth, f"On day {depth} the bell of Sarn rang {depth} times.") for depth in range(5, 21))


def state(*parts: StoryPart, notes: tuple[tuple[int, str], ...] = NOTES) -> WorldState:
    happened = (Happening("e1", "attack", 6), Happening("e2", "truce", 15))
    return WorldState(turn="t", depth=20, player="p", notes=notes, happenings=happened, story=parts)


def test_a_remark_that_a_summary_tells_is_not_told_again() -> None:
    told = "; ".join(text for depth, text in NOTES if depth <= 9)
    lines = story_lines(state(StoryPart("scene", 1, 9, told)), 20)
    whole = "\n".join(lines)
    assert [whole.count(text) for _, text in NOTES] == [1] * len(NOTES)
    assert "[attack]" not in lines and "[truce]" in lines, (
        "the summary covers the sixth turn, and no other the fifteenth"
    )


def test_a_remark_that_is_repeated_is_told_once() -> None:
    again = (*NOTES, (21, "on day 7 the bell of  Sarn rang 7 times."))
    assert story_lines(state(notes=again), 20) == story_lines(state(), 20)


def test_what_is_short_may_happen_twice() -> None:
    assert story_lines(state(notes=((5, "Rain."), (9, "Rain."))), 20).count("Rain.") == 2


def test_in_little_room_nothing_is_told_twice_either() -> None:
    told = "; ".join(text for depth, text in NOTES if depth <= 9)
    lines = story_within(state(StoryPart("scene", 1, 9, told)), 20, 400, len)
    whole = "\n".join(lines)
    assert lines and max(whole.count(text) for _, text in NOTES) == 1


def test_a_title_ends_no_sentence() -> None:
    said = "Mr. Vey owes Dr. Ames two crowns. Capt. Ash heard it."
    assert clauses(said) == ["Mr. Vey owes Dr. Ames two crowns.", "Capt. Ash heard it."]
    assert excerpt(said, {}, 40) == "Mr. Vey owes Dr. Ames two crowns. …"
