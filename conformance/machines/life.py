"""The state machines: a store and an oracle are given the same calls, and must answer alike, also after a re-open."""

from __future__ import annotations

import shutil
from random import Random
from typing import Any

from hypothesis import HealthCheck, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from conformance.calls import Call, answer, typed
from conformance.case import Case
from conformance.check import CheckFailed, check
from conformance.images import image
from conformance.models import MODELS, expected
from conformance.plans import EXPAND, PLANS
from saga_core.capabilities import Capability

randoms = st.randoms(use_true_random=False)


class Life(RuleBasedStateMachine):
    """One life. ``case`` is set on a subclass."""

    case: Case
    lives: int = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).lives += 1
        self.folder = f"life-{self.lives}"
        self.kind = self.case.harness.kind
        self.plan = PLANS[self.kind]
        self.model = MODELS[self.kind]()
        self.story: list[str] = []
        self.store: Any = self.case.run(self.case.open(self.folder))

    def put(self, made: Call) -> None:
        """Give ``made`` to both and compare."""
        self.story.append(str(made))
        wanted = expected(self.model, made)
        found = self.case.run(answer(self.store, made))
        if typed(found) != typed(wanted):
            names = self.plan.about.get(made.method, ())
            raise CheckFailed(self.tell(f"gave {found!r}, expected {wanted!r}", names), clause=" ".join(names))

    def look(self) -> None:
        """Compare everything."""
        if typed(self.case.run(image(self.store))) != typed(self.model.image()):
            raise CheckFailed(self.tell("and then the store holds other than it was given", ()))

    def tell(self, what: str, names: tuple[str, ...]) -> str:
        """The calls up to here, and what was wrong."""
        about = f" ({', '.join(names)})" if names else ""
        return "\n".join([*self.story[-40:], f"{what}{about}"])

    @rule(random=randoms)
    def write(self, random: Random) -> None:
        self.put(self.plan.write(random, self.model))

    @rule(random=randoms)
    def write_again(self, random: Random) -> None:
        made = self.plan.write(random, self.model)
        self.put(made)
        self.put(made)

    @rule(random=randoms)
    def read(self, random: Random) -> None:
        self.put(self.plan.reads[random.choice(list(self.plan.reads))](random, self.model))

    @rule(random=randoms)
    def ask(self, random: Random) -> None:
        self.put(next(iter(self.plan.reads.values()))(random, self.model))

    @precondition(lambda self: Capability.NATIVE_EXPAND in self.case.harness.provides)
    @rule(random=randoms)
    def expand(self, random: Random) -> None:
        self.put(EXPAND(random, self.model))

    @precondition(lambda self: Capability.DURABLE in self.case.harness.provides)
    @rule()
    def reopen(self) -> None:
        self.story.append("close and open again")
        self.store = self.case.run(self.case.reopen(self.store, self.folder))
        self.look()

    @rule()
    def everything(self) -> None:
        self.look()

    def teardown(self) -> None:
        self.case.run(self.case.close())
        shutil.rmtree(self.case.path / self.folder, ignore_errors=True)


def live(case: Case) -> None:
    """Many lives. Raises ``CheckFailed`` with the shortest story found that goes wrong."""
    machine = seed(case.seed)(type("SeededLife", (Life,), {"case": case}))
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=case.profile.examples,
            stateful_step_count=case.profile.steps,
            deadline=None,
            database=None,
            derandomize=False,
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
        ),
    )


def _about(kind: str) -> tuple[str, ...]:
    found = [name for names in PLANS[kind].about.values() for name in names]
    return tuple(dict.fromkeys(found))


@check(*_about("state"), kinds=("state",), search=True)
def state(case: Case) -> None:
    """StateKV."""
    live(case)


@check(*_about("graph"), kinds=("graph",), search=True)
def graph(case: Case) -> None:
    """GraphStore."""
    live(case)


@check(*_about("vector"), kinds=("vector",), search=True)
def vector(case: Case) -> None:
    """VectorStore."""
    live(case)


@check(*_about("cache"), kinds=("cache",), search=True)
def cache(case: Case) -> None:
    """MdCache."""
    live(case)
