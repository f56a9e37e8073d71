"""Profiles: how long the searches are."""

from __future__ import annotations

from math import inf

from attrs import frozen


@frozen
class Profile:
    """Sizes and numbers of a run."""

    name: str
    examples: int
    """Lives of a state machine."""
    steps: int
    """Calls in one run of the machine."""
    histories: int
    """Small concurrent histories."""
    kills: int
    """Processes that are killed."""
    sizes: tuple[int, ...]
    """How many entries a call has; those beyond a store's own limit are left out."""
    edges: tuple[int, ...]
    """How many edges at once: engines take long for them."""
    cuts: int
    """At how many places a torn write ends."""
    scopes: int
    """How many scopes there are at once, at least."""
    most_scopes: int
    """How many there are at most, while the store makes them quickly."""
    scope_seconds: float
    """For how long scopes are made beyond the least."""
    thousand_seconds: float
    """In how long a store that is not too slow for it writes and deletes a thousand of the whole population."""
    population: int
    """How many entries a store holds at once, written in the largest calls that its limits allow."""
    commits: int
    """How many small commits a StateKV has had when it is opened again."""


_SIZES = (1, 100, 101, 256, 257, 1_000, 1_001)
_EVERY_SIZE = (1, 99, 100, 101, 255, 256, 257, 999, 1_000, 1_001, 4_097, 10_000)

PROFILES = {
    "quick": Profile("quick", 10, 20, 10, 1, (101, 257), (101, 257), 2, 101, 101, 0.0, 0.0, 300, 101),
    "default": Profile("default", 25, 30, 40, 3, _SIZES, (1, 101, 257, 501), 5, 301, 10_500, 2.0, 0.2, 10_500, 1_101),
    "deep": Profile(
        "deep", 1_000, 50, 1_000, 30, _EVERY_SIZE, _EVERY_SIZE, 400, 1_101, 10_500, 60.0, inf, 10_500, 10_500
    ),
}
