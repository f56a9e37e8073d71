"""The order of sources: each runs after the sources that it needs, with a deadline that leaves time for dependents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from attrs import frozen

from saga_core.context.sources.source import ContextSource
from saga_core.errors import BadInput

PATIENCE = 0.8
"""The part of the deadline within which stores and the embedder must answer, so that sources can go on without them."""


@frozen
class SourceOrder:
    """The sources and their deadlines."""

    sources: tuple[ContextSource, ...]
    until: Mapping[str, float]
    """The part of the deadline, above ``PATIENCE`` and at most 1, by which each source must be done.

    Sources in a chain share the time after ``PATIENCE`` evenly. A needed source ends earlier, so that the sources that
    need it still have time if it is late.
    """


def order_of(sources: Sequence[ContextSource]) -> SourceOrder:
    """Return the order of ``sources``. Raises ``BadInput`` for duplicate names, unknown needs and cycles."""
    for name, times in Counter(source.name for source in sources).items():
        if times > 1:
            raise BadInput(f"sources: {times} are named {name!r}; give each its own name")
    needs = {source.name: frozenset(source.needs) for source in sources}
    for name, wanted in needs.items():
        for need in sorted(wanted - needs.keys()):
            known = ", ".join(sorted(needs.keys() - {name}))
            raise BadInput(f"sources: {name!r} needs {need!r}, which is not there; there are: {known or 'no others'}")
    try:
        first_to_last = tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        ring = " needs ".join(map(repr, reversed(error.args[1])))
        raise BadInput(f"sources: {ring}, so that none can be the first; switch one of them off") from None
    behind = dict.fromkeys(first_to_last, 0)
    for name in reversed(first_to_last):
        for need in needs[name]:
            behind[need] = max(behind[need], behind[name] + 1)
    share = (1 - PATIENCE) / (1 + max(behind.values(), default=0))
    return SourceOrder(tuple(sources), {name: 1 - share * steps for name, steps in behind.items()})
