"""State machines that make random calls on a store and an oracle and require equal results, also after reopening."""

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
    """One random run of a store. Subclasses set ``case``."""

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
        """Draw one seed for the whole run. Values drawn one by one by hypothesis would be small and alike."""
        self.random = Random(number)

    @rule()
    def calls(self) -> None:
        """Make a few calls of any kind."""
        for _ in range(_BURST):
            self.run.step(self.strategy.any(self.random, self.run.model))

    @rule()
    def writes(self) -> None:
        """Make a few writes, and repeat the last one."""
        for _ in range(_BURST):
            made = self.strategy.write(self.random, self.run.model)
            self.run.step(made)
        self.run.step(made)

    @rule()
    def reads(self) -> None:
        """Make a read of each kind."""
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
    """Make many runs. Raises ``Disagreement`` with a short failing story."""
    machine = seed(case.seed)(type("SeededStoreMachine", (StoreMachine,), {"case": case}))
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                # A cache syncs each page file, which is slow, and it can have only few different contents.
                max_examples=case.profile.examples // (3 if case.harness.kind == "cache" else 1),
                stateful_step_count=case.profile.steps,
                # ``shortest`` shortens failing runs in seconds. Hypothesis would take minutes.
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
        raise CheckFailed(f"the same calls gave right results once and wrong results once: {flaky}") from flaky


def _about(kind: str) -> tuple[str, ...]:
    found = [name for names in STRATEGIES[kind].about.values() for name in names]
    return tuple(dict.fromkeys(found))


@check(*_about("state"), kinds=("state",), search=True)
def state(case: Case) -> None:
    """Random calls of a StateKV."""
    live(case)


@check(*_about("graph"), kinds=("graph",), search=True)
def graph(case: Case) -> None:
    """Random calls of a GraphStore."""
    live(case)


@check(*_about("vector"), kinds=("vector",), search=True)
def vector(case: Case) -> None:
    """Random calls of a VectorStore."""
    live(case)


@check(*_about("cache"), kinds=("cache",), search=True)
def cache(case: Case) -> None:
    """Random calls of an MdCache."""
    live(case)
