"""Profiles: the sizes and durations of a run."""

from __future__ import annotations

from math import inf

from attrs import frozen


@frozen
class Profile:
    """The sizes and counts of a run."""

    name: str
    examples: int
    """The number of histories that a state machine tries."""
    steps: int
    """The number of calls in one history of the state machine."""
    histories: int
    """The number of small concurrent histories."""
    kills: int
    """The number of processes to kill."""
    kill_seconds: float
    """How many seconds to go on killing processes after single steps."""
    sizes: tuple[int, ...]
    """The numbers of entries to try in one call. Sizes beyond a store's own limit are left out."""
    edges: tuple[int, ...]
    """The numbers of edges to try in one call, listed separately because engines take long to write edges."""
    cuts: int
    """The number of offsets at which a torn write is cut off."""
    scopes: int
    """The least number of scopes to create at once."""
    most_scopes: int
    """The most scopes to create, if the store creates them quickly enough."""
    scope_seconds: float
    """How many seconds to go on creating scopes beyond ``scopes``."""
    thousand_seconds: float
    """The time for a thousand entries. Stores that take longer to write and delete them are tried with fewer."""
    population: int
    """The number of entries that a store holds at once, written in the largest calls that its limits allow."""
    commits: int
    """The number of small commits to a StateKV before it is reopened."""


_SIZES = (1, 100, 101, 256, 257, 1_000, 1_001)
_EVERY_SIZE = (1, 99, 100, 101, 255, 256, 257, 999, 1_000, 1_001, 4_097, 10_000)

PROFILES = {
    "quick": Profile("quick", 10, 20, 10, 1, 10.0, (101, 257), (101, 257), 2, 101, 101, 0.0, 0.0, 300, 101),
    "default": Profile(
        "default", 25, 30, 40, 3, 60.0, _SIZES, (1, 101, 257, 501), 5, 301, 10_500, 2.0, 0.2, 10_500, 1_101
    ),
    "deep": Profile(
        "deep", 1_000, 50, 1_000, 30, inf, _EVERY_SIZE, _EVERY_SIZE, 400, 1_101, 10_500, 60.0, inf, 10_500, 10_500
    ),
}
