"""Values that stores and model share."""

from __future__ import annotations

from saga_core import codec
from saga_core.values import PAGE_NAMES, Proposal


def test_the_pages_stand_in_a_prompt_in_this_order() -> None:
    assert PAGE_NAMES == ("state.md", "relations.md", "story.md", "lore.md")


def test_a_proposal_is_data_that_comes_back_as_it_was() -> None:
    proposal = Proposal("event", "종이 울린다", ("t1",), ("c1",), {"due": "9"})
    assert codec.decode(codec.encode(proposal), Proposal) == proposal
    assert codec.to_plain(Proposal("lore", "x")) == {"kind": "lore", "summary": "x"}
