"""Ids sort by the time of their making; those of entities follow from what they are."""

from __future__ import annotations

import unicodedata

from saga_core.ids import IdSource, digest, entity_id


class Still:
    """A clock that is set by hand."""

    def __init__(self, at: float) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


class Dice:
    """Throws the same bytes each time."""

    def __init__(self, byte: int) -> None:
        self.byte = byte

    def token(self, size: int) -> bytes:
        return bytes([self.byte] * size)


def test_ids_are_the_prefix_time_and_randomness() -> None:
    one, other = (IdSource(Still(1_000.0), Dice(byte)).new("t") for byte in (0, 255))
    assert one[0] == "t" and len(one) == 21 and set(one[1:]) <= set("0123456789abcdefghjkmnpqrstvwxyz")
    assert one[:11] == other[:11] and one < other


def test_ids_ascend_within_a_millisecond_and_over_a_clock_that_jumps_back() -> None:
    clock = Still(1_000.0)
    source = IdSource(clock, Dice(255))
    found = [source.new("t") for _ in range(50)]
    clock.at = 500.0
    found += [source.new("t") for _ in range(50)]
    clock.at = 1_000.001
    found.append(source.new("t"))
    assert found == sorted(found) and len(set(found)) == 101


def test_two_sources_of_one_moment_differ_by_their_randomness() -> None:
    assert IdSource(Still(7.0)).new("s") != IdSource(Still(7.0)).new("s")


def test_an_entity_has_one_id_in_every_branch_however_its_name_is_spelt() -> None:
    assert entity_id("character", "에르겐") == entity_id("character", unicodedata.normalize("NFD", " 에르겐 "))
    assert entity_id("character", "Old  Ergen") == entity_id("character", "old ergen")
    assert entity_id("character", "에르겐")[0] == "c" and len(entity_id("item", "검")) == 15
    assert (
        len(
            {
                entity_id("character", "a"),
                entity_id("item", "a"),
                entity_id("character", "a", 1),
                entity_id("character", "b"),
            }
        )
        == 4
    )


def test_a_digest_keeps_its_parts_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc") != digest("abc") and digest("a") != digest("a", "")
    assert len(digest("a")) == 24 and len(digest("a", size=4)) == 8
    assert digest("숲") == digest("숲")
