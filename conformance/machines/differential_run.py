"""One run of a store and its oracle, which get the same calls and must agree, and the shortening of failing runs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from conformance.assertions import CheckFailed, typed
from conformance.calls import Call, answer, snapshot
from conformance.case import Case
from conformance.models import MODELS, expected
from conformance.strategies import STRATEGIES

REOPEN = Call("close and open again")
LOOK = Call("look at everything")

_SECONDS = 10.0
"""The seconds that may be spent on shortening a story."""


class Disagreement(CheckFailed):
    """Store and oracle disagree. ``story`` has the calls that led to it."""

    def __init__(self, story: Sequence[Call], what: str, clauses: tuple[str, ...]) -> None:
        self.story = tuple(story)
        about = f" ({', '.join(clauses)})" if clauses else ""
        super().__init__("\n".join([*map(str, story), f"{what}{about}"]), clause=" ".join(clauses))


class DifferentialRun:
    """One run of store and oracle, in its own directory."""

    def __init__(self, case: Case, folder: str) -> None:
        self.case = case
        self.folder = folder
        self.strategy = STRATEGIES[case.harness.kind]
        self.model = MODELS[case.harness.kind]()
        self.story: list[Call] = []
        self.store: Any = case.run(case.open(folder))

    def step(self, made: Call) -> None:
        """Make the call on the store and on the oracle. Raises ``Disagreement`` if they differ."""
        self.story.append(made)
        if made == REOPEN:
            self.store = self.case.run(self.case.reopen(self.store, self.folder))
        if made in (REOPEN, LOOK):
            self._compare()
            return
        wanted = expected(self.model, made)
        found = self.case.run(answer(self.store, made))
        if typed(found) != typed(wanted):
            what = f"gave {found!r}, expected {wanted!r}"
            raise Disagreement(self.story, what, self.strategy.about.get(made.method, ()))

    def _compare(self) -> None:
        if typed(self.case.run(snapshot(self.store))) != typed(self.model.snapshot()):
            raise Disagreement(self.story, "and the contents of the store are wrong", ())

    def end(self) -> None:
        """Close the store and remove its directory."""
        self.case.run(self.case.close())
        shutil.rmtree(self.case.place(self.folder), ignore_errors=True)


def shortest(case: Case, failed: Disagreement) -> Disagreement:
    """Leave out every call that the failure does not need, as far as the time allows."""
    start, number = perf_counter(), 0
    at = 0
    while at < len(failed.story) - 1 and perf_counter() - start < _SECONDS:
        number += 1
        found = _told(case, f"shorter-{number}", (*failed.story[:at], *failed.story[at + 1 :]))
        if found is None:
            at += 1
        else:
            failed = found
    return failed


def _told(case: Case, folder: str, story: Sequence[Call]) -> Disagreement | None:
    """Repeat the story and return its disagreement, or None if there is none."""
    run = DifferentialRun(case, folder)
    try:
        for made in story:
            run.step(made)
    except Disagreement as found:
        return found
    except CheckFailed:
        return None  # the shorter story fails in another way
    finally:
        run.end()
    return None
