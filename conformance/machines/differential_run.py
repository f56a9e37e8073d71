"""A store beside its oracle: both are given the same calls and must answer alike. A story that fails is cut short."""

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
"""The time that is spent on cutting a story."""


class Disagreement(CheckFailed):
    """Store and oracle differ; ``story`` is what led there."""

    def __init__(self, story: Sequence[Call], what: str, clauses: tuple[str, ...]) -> None:
        self.story = tuple(story)
        about = f" ({', '.join(clauses)})" if clauses else ""
        super().__init__("\n".join([*map(str, story), f"{what}{about}"]), clause=" ".join(clauses))


class DifferentialRun:
    """One run, in a directory of its own."""

    def __init__(self, case: Case, folder: str) -> None:
        self.case = case
        self.folder = folder
        self.strategy = STRATEGIES[case.harness.kind]
        self.model = MODELS[case.harness.kind]()
        self.story: list[Call] = []
        self.store: Any = case.run(case.open(folder))

    def step(self, made: Call) -> None:
        """Do it on both sides. Raises ``Disagreement``."""
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
            raise Disagreement(self.story, "and the store holds other than it was given", ())

    def end(self) -> None:
        """Close the store and remove its directory."""
        self.case.run(self.case.close())
        shutil.rmtree(self.case.place(self.folder), ignore_errors=True)


def shortest(case: Case, failed: Disagreement) -> Disagreement:
    """The story with every call left out that it fails without, as far as the time allows."""
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
    """How the story fails when it is told again; None when it does not."""
    run = DifferentialRun(case, folder)
    try:
        for made in story:
            run.step(made)
    except Disagreement as found:
        return found
    except CheckFailed:
        return None  # it fails in another way
    finally:
        run.end()
    return None
