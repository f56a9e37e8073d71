"""A history that no right servers make is found out."""

from __future__ import annotations

import pytest

from saga_core import codec
from saga_core.journal import keys
from saga_core.stores import Key
from saga_server.hosting import layout
from saga_server.hosting.leases import Lease
from tests.postgres.chaos.history import Appended, History, Read
from tests.postgres.chaos.record import Commit

S = "s1"
Rows = dict[Key, bytes | None]


def lease(owner: str, epoch: int) -> Rows:
    return {layout.lease(S): codec.encode(Lease(owner, epoch))}


def turn(name: str, parent: str | None, number: int) -> Rows:
    return {keys.turn(S, name): codec.dumps({"parent": parent}), layout.order(S): str(number).encode()}


def commit(number: int, who: str, rows: Rows) -> Commit:
    return Commit(number, number, float(number), f"saga-{who}", rows)


BEGUN = commit(1, "a", {**lease("a#1", 1), **turn("root", None, 1)})
NEXT = commit(2, "a", turn("t1", "root", 2))
TAKEN = commit(3, "b", lease("b#1", 2))
LAST = commit(4, "b", turn("t2", "t1", 3))


def wrong(*commits: Commit, appended: tuple[Appended, ...] = (), reads: tuple[Read, ...] = ()) -> str:
    history = History()
    history.follow(commits)
    history.compare(appended, reads)
    return "\n".join(history.wrong)


def test_a_session_that_goes_from_server_to_server_is_right() -> None:
    told = Appended(S, "t1", 1.5, 2.5), Appended(S, "t2", 3.5, 4.5)
    seen = Read(S, "b", 4.6, 4.7, frozenset({"root", "t1", "t2"}))
    assert wrong(BEGUN, NEXT, TAKEN, LAST, appended=told, reads=(seen,)) == ""
    given = commit(5, "b", lease("", 2))
    assert wrong(BEGUN, NEXT, TAKEN, LAST, given, commit(6, "a", lease("a#2", 3))) == ""


@pytest.mark.parametrize(
    ("commits", "words"),
    [
        ((BEGUN, TAKEN, commit(4, "a", turn("t1", "root", 2))), "while Lease(owner='b#1', epoch=2) holds"),
        ((BEGUN, commit(2, "b", lease("b#1", 1))), "takes Lease(owner='b#1', epoch=1) behind"),
        ((BEGUN, commit(2, "b", lease("", 1))), "gives back"),
        ((BEGUN, commit(2, "a", turn("t1", "root", 3))), "has the number 3 behind 1"),
        ((BEGUN, commit(2, "a", {keys.node(S, "t1"): b"{}"})), "without a number"),
        ((BEGUN, commit(2, "a", turn("t1", "t0", 2))), "stands below t0, which is not there"),
        ((BEGUN, NEXT, commit(3, "a", turn("t1", "root", 3))), "turn t1 is written again"),
        ((BEGUN, NEXT, commit(3, "a", {keys.turn(S, "t1"): None, layout.order(S): b"3"})), "turn t1 goes"),
    ],
)
def test_what_no_right_server_writes_is_found(commits: tuple[Commit, ...], words: str) -> None:
    assert words in wrong(*commits)


@pytest.mark.parametrize(
    ("appended", "words"),
    [
        ((Appended(S, "t9", 1.5, 2.5),), "is not there"),
        ((Appended(S, "t1", 2.5, 3.5),), "outside of its request"),
        ((Appended(S, "t2", 3.5, 4.5), Appended(S, "t1", 1.5, 2.5)), "stands before t2, which was told earlier"),
    ],
)
def test_what_a_player_was_told_and_is_not_so_is_found(appended: tuple[Appended, ...], words: str) -> None:
    assert words in wrong(BEGUN, NEXT, TAKEN, LAST, appended=appended)


def test_a_server_that_shows_less_or_more_than_is_there_is_found() -> None:
    told = (Appended(S, "t1", 1.5, 2.5),)
    old = Read(S, "b", 3.0, 3.1, frozenset({"root"}))
    assert "does not show ['t1'], which ended before" in wrong(BEGUN, NEXT, appended=told, reads=(old,))
    early = Read(S, "b", 1.1, 1.2, frozenset({"root", "t1"}))
    assert "shows ['t1'] of s1 before they are recorded" in wrong(BEGUN, NEXT, reads=(early,))
