"""Values that stores and model share."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from saga_core import codec
from saga_core.values import PAGE_NAMES, Proposal, date_of


def test_the_pages_stand_in_a_prompt_in_this_order() -> None:
    assert PAGE_NAMES == ("state.md", "relations.md", "story.md", "lore.md")


def test_a_proposal_is_data_that_comes_back_as_it_was() -> None:
    proposal = Proposal("event", "종이 울린다", ("t1",), ("c1",), {"due": "9"})
    assert codec.decode(codec.encode(proposal), Proposal) == proposal
    assert codec.to_plain(Proposal("lore", "x")) == {"kind": "lore", "summary": "x"}


@pytest.mark.parametrize(("seconds", "year"), [(0, 1970), (2.7e11, 9999), (-1e12, 1), (1e300, 9999)])
def test_a_time_that_a_wrong_clock_told_has_a_date(seconds: float, year: int) -> None:
    """A view of such a turn failed, and its export did for good."""
    assert date_of(seconds).year == year
    assert date_of(seconds).astimezone(timezone(timedelta(hours=14))).year == year
