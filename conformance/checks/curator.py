"""Curator, clause by clause."""

from __future__ import annotations

from copy import deepcopy

from conformance.assertions import require
from conformance.case import Case
from conformance.check import check
from conformance.inputs import empty_view, view
from saga_core.stores import CurationView
from saga_core.values import Proposal

KINDS = ("contradiction", "compress", "event", "lore", "memory", "remember")


def views() -> tuple[CurationView, ...]:
    """The views that the checks show to a curator."""
    long = view()
    later = CurationView(long.session, long.state, long.turns[6:], since=6)
    return long, later, empty_view(), CurationView("빈", long.state, ())


@check("U-1")
async def proposals_are_well_formed(case: Case) -> None:
    for shown in views():
        found = await case.store.review(shown)
        require(type(found) is tuple, f"review gave a {type(found).__name__}")
        for one in found:
            require(type(one) is Proposal, f"a proposal is a {type(one).__name__}")
            require(one.kind in KINDS, f"the kind {one.kind!r} is not one of {', '.join(KINDS)}")
            require(isinstance(one.summary, str) and one.summary.strip(), f"the summary is {one.summary!r}")
            texts = [*one.turns, *one.entities, *one.data, *one.data.values()]
            require(all(isinstance(text, str) for text in texts), f"{one} contains something other than text")


@check("U-2")
async def proposals_name_what_was_shown(case: Case) -> None:
    for shown in views():
        turns = {turn.id for turn in shown.turns}
        for one in await case.store.review(shown):
            require(set(one.turns) <= turns, f"{one} names turns that were not shown")
            require(set(one.entities) <= set(shown.state.entities), f"{one} names entities that do not exist")


@check("U-3")
async def alike_answers_alike(case: Case) -> None:
    other = await case.open("other")
    for shown in views():
        first, second = await case.store.review(shown), await other.review(deepcopy(shown))
        require(first == second, f"two curators returned {first} and {second} for the same view")


@check("U-4")
async def the_view_is_left_alone(case: Case) -> None:
    for shown in views():
        before = deepcopy(shown)
        await case.store.review(shown)
        require(shown == before, "review changed the view")


@check("U-5")
async def nothing_happened(case: Case) -> None:
    for shown in (empty_view(), views()[-1]):
        found = await case.store.review(shown)
        require(isinstance(found, tuple), f"review of an empty view gave {found!r}")


@check("U-6")
async def what_is_forgotten(case: Case) -> None:
    shown = views()[0]
    await case.store.forget("never reviewed")
    first = await case.store.review(shown)
    await case.store.review(views()[1])
    await case.store.forget(shown.session)
    await case.store.forget(shown.session)
    again = await case.store.review(shown)
    require(again == first, f"the first review returned {first}, but {again} after the session was forgotten")
