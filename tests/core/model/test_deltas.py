"""Deltas: a turn's changes composed with a continuation, and with what is known later."""

from __future__ import annotations

from saga_core.model import Delta, ReportStatus, Source, undoings
from saga_core.model.deltas import HpChanged, Noted


def delta(amount: int, source: Source = Source.BLOCK, status: ReportStatus = ReportStatus.OK, **fields: str) -> Delta:
    return Delta((HpChanged("p", amount),), source, status, **fields)


def amounts(found: Delta) -> list[int]:
    return [event.amount for event in found.events if isinstance(event, HpChanged)]


def edit(amount: int, id_: str = "", **fields: str) -> Delta:
    return delta(amount, Source.EDIT, id=id_, **fields)


def test_a_continuation_adds_its_changes_and_its_problems() -> None:
    one = Delta((HpChanged("p", -1),), Source.BLOCK, ReportStatus.OK, ("a",))
    both = one.then(Delta((HpChanged("p", -2),), Source.BLOCK, ReportStatus.PARTIAL, ("b",)))
    assert amounts(both) == [-1, -2]
    assert (both.status, both.problems) == (ReportStatus.PARTIAL, ("a", "b"))


def test_a_continuation_that_says_nothing_changes_nothing_unless_somebody_should_be_asked() -> None:
    one = delta(-1)
    assert one.then(Delta()) is one
    asked = one.then(Delta(status=ReportStatus.FALLBACK))
    assert (asked.status, asked.source, amounts(asked)) == (ReportStatus.FALLBACK, Source.BLOCK, [-1])


def test_later_edits_are_added_in_their_order_and_the_turn_stays_as_well_known_as_it_was() -> None:
    found = delta(-1).amended([edit(-2), Delta((Noted("x"),), Source.CURATION)])
    assert amounts(found) == [-1, -2] and Noted("x") in found.events
    assert (found.source, found.status) == (Source.EDIT, ReportStatus.OK)
    known = Delta(status=ReportStatus.FALLBACK).amended([Delta((HpChanged("p", -2),), Source.CURATION)])
    assert (known.source, known.status, amounts(known)) == (Source.CURATION, ReportStatus.FALLBACK, [-2])


def test_the_latest_extraction_stands_for_the_turn_and_edits_stand_whenever_they_were_made() -> None:
    later = [edit(-2), delta(-3, Source.EXTRACTION), delta(-4, Source.EXTRACTION)]
    assert amounts(delta(-1).amended(later)) == [-4, -2]


def test_what_was_undone_counts_no_more() -> None:
    later = [edit(-2, "1"), edit(-3, "2"), Delta(source=Source.EDIT, id="3", undoes="1")]
    assert undoings(later) == {"1": "3"}
    assert amounts(delta(-1).amended(later)) == [-1, -3]


def test_an_undoing_may_be_undone() -> None:
    later = [
        edit(-2, "1"),
        Delta(source=Source.EDIT, id="2", undoes="1"),
        Delta(source=Source.EDIT, id="3", undoes="2"),
    ]
    assert undoings(later) == {"2": "3"}
    assert amounts(delta(-1).amended(later)) == [-1, -2]


def test_of_two_that_undo_one_the_later_is_named() -> None:
    later = [edit(-2, "1"), *(Delta(source=Source.EDIT, id=id_, undoes="1") for id_ in "23")]
    assert undoings(later) == {"1": "3"}


def test_changes_without_an_id_cannot_be_undone() -> None:
    assert amounts(delta(-1).amended([edit(-2), Delta(source=Source.EDIT, undoes="")])) == [-1, -2]
