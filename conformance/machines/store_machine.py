"""The state machines: a store and an oracle are given the same calls, and must answer alike, also after a re-open."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from conformance.assertions import CheckFailed
from conformance.case import Case
from conformance.check import check
from conformance.machines.differential_run import LOOK, REOPEN, DifferentialRun, Disagreement, shortest
from conformance.strategies import EXPAND, STRATEGIES
from saga_core.capabilities import Capability

_BURST = 4


class StoreMachine(RuleBasedStateMachine):
    """One run of a store. ``case`` is set on a subclass."""

    case: Case
    runs: int = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).runs += 1
        self.run = DifferentialRun(self.case, f"run-{self.runs}")
        self.strategy = self.run.strategy
        self.random = Random(0)

    @initialize(number=st.integers(0, 2**64 - 1))
    def begin(self, number: int) -> None:
        """One draw for the whole run: drawn piece by piece the values would be small and alike."""
        self.random = Random(number)

    @rule()
    def calls(self) -> None:
        """A few calls of any sort."""
        for _ in range(_BURST):
            self.run.step(self.strategy.any(self.random, self.run.model))

    @rule()
    def writes(self) -> None:
        """A few writes, one of them twice in a row."""
        for _ in range(_BURST):
            made = self.strategy.write(self.random, self.run.model)
            self.run.step(made)
        self.run.step(made)

    @rule()
    def reads(self) -> None:
        """A read of each sort."""
        for make in self.strategy.reads.values():
            self.run.step(make(self.random, self.run.model))

    @precondition(lambda self: Capability.NATIVE_EXPAND in self.case.harness.provides)
    @rule()
    def expand(self) -> None:
        self.run.step(EXPAND(self.random, self.run.model))

    @precondition(lambda self: Capability.DURABLE in self.case.harness.provides)
    @rule()
    def reopen(self) -> None:
        self.run.step(REOPEN)

    @rule()
    def everything(self) -> None:
        self.run.step(LOOK)

    def teardown(self) -> None:
        self.run.end()


def live(case: Case) -> None:
    """Many runs. Raises ``Disagreement`` with a short story that goes wrong."""
    machine = seed(case.seed)(type("SeededStoreMachine", (StoreMachine,), {"case": case}))
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                # Pages are files, each of which is synced, and there is little that they can hold.
                max_examples=case.profile.examples // (3 if case.harness.kind == "cache" else 1),
                stateful_step_count=case.profile.steps,
                # What fails is cut short by telling it again, which takes seconds where hypothesis takes minutes.
                phases=[Phase.generate],
                deadline=None,
                database=None,
                derandomize=False,
                report_multiple_bugs=False,
                print_blob=False,
                verbosity=Verbosity.quiet,
                suppress_health_check=list(HealthCheck),
            ),
        )
    except Disagreement as failed:
        raise shortest(case, failed) from None
    except Flaky as flaky:
        raise CheckFailed(f"the same calls once gave what they should, and once not: {flaky}") from flaky


def _about(kind: str) -> tuple[str, ...]:
    found = [name for names in STRATEGIES[kind].about.values() for name in names]
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
