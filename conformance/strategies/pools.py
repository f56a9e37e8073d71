"""The pools that random calls draw from, small so that calls concern the same names."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from conformance.inputs import NFC, NFD
from conformance.models import Model

T = TypeVar("T")

SCOPES = ("s", "s/2", "숲", NFD)
IDS = ("아리아", NFC, NFD, "a", "ab", "a_", "a%", "A", "b:c", "\uffff", "\U0001f5e1")
SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 0.0, -0.0, 1.0, 1.5, 0.1, 1e300),
    *(2**63 - 1, -(2**63), 2**53 + 1, "", "1", "t1", "크룩", NFC, NFD, "\U0001f5e1"),
)


def some(random: Random, pool: Sequence[T], most: int) -> tuple[T, ...]:
    """Draw up to ``most`` values from ``pool``, possibly with repetitions."""
    return tuple(random.choice(pool) for _ in range(random.randint(0, most)))


def chance(random: Random, of: int) -> bool:
    """Return True one time in ``of``."""
    return random.randint(1, of) == 1


def scope_of(random: Random, model: Model) -> str:
    """Draw a scope, most often one that exists."""
    known: list[str] = [scope for scope in SCOPES if scope in dict(model.held)]
    return random.choice(known if known and not chance(random, 4) else SCOPES)
