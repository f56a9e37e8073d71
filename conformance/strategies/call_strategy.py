"""``CallStrategy``: the random calls of a kind of store, drawn from a given ``Random``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from attrs import frozen

from conformance.calls import Call, call
from conformance.models import Model
from conformance.strategies.pools import IDS, chance, scope_of, some

Maker = Callable[[Random, Model], Call]


@frozen
class CallStrategy:
    """The random calls of a kind of store."""

    writes: Mapping[str, Maker]
    reads: Mapping[str, Maker]
    about: Mapping[str, tuple[str, ...]]
    """The clauses that a wrong result of each method may break."""

    def write(self, random: Random, model: Model) -> Call:
        """Draw a writing call. The first method is the most frequent, the last one, which drops, is rare."""
        names = list(self.writes)
        name = random.choice([*names[:1] * 3, *names[1:-1], names[0] if chance(random, 2) else names[-1]])
        return self.writes[name](random, model)

    def any(self, random: Random, model: Model) -> Call:
        """Draw any call."""
        if chance(random, 2):
            return self.write(random, model)
        return self.reads[random.choice(list(self.reads))](random, model)


def of_scope(method: str) -> Maker:
    """A maker of calls of ``method`` with a scope as the only argument."""
    return lambda random, model: call(method, scope_of(random, model))


def bare(method: str) -> Maker:
    """A maker of calls of ``method`` without arguments."""
    return lambda random, model: call(method)


def get_of_ids(random: Random, model: Model) -> Call:
    """Draw a ``get`` of a few ids of nodes or items."""
    return call("get", scope_of(random, model), some(random, IDS, 4))
