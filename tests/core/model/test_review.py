"""A review comes back from the journal as it was written."""

from __future__ import annotations

from saga_core import codec
from saga_core.model import Review
from saga_core.values import Proposal


def test_a_review_is_stored_whole() -> None:
    review = Review(
        "rules",
        "t9",
        12.5,
        0,
        9,
        accepted=(Proposal("contradiction", "죽은 이가 말한다", turns=("t8",)),),
        changes=("c1",),
        refused=(("merge", "an unknown id"),),
        notice="the rules stood in",
    )
    assert codec.decode(codec.encode(review), Review) == review
    assert codec.to_plain(Review("rules", "t9", 12.5, 0, 9)).keys() == {"curator", "turn", "at", "since", "depth"}
