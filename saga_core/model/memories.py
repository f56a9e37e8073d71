"""Memory records: what a memory strategy learned from the turns of a path, and what a state keeps of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, field, frozen

MAX_MEMORIES = 512
"""Records that one state keeps; beyond them those learned longest ago go. Strategies have tighter limits."""


@frozen
class MemoryRecord:
    """One thing that was learned, with the turns that prove it."""

    id: str
    strategy: str
    """The name that the strategy has in the configuration; empty for what a person added."""
    kind: str
    """``fact``, ``preference``, ``summary``, ``episode``, ``reflection``, or what a plugin calls it."""
    namespace: str
    """With ``{actor}`` and ``{session}`` as they are: whose it is, is told by where it stands."""
    text: str
    details: Mapping[str, str] = field(factory=dict)
    turns: tuple[str, ...] = ()
    """Ids of the turns that it was learned from, oldest first; of an updated record those of both versions."""
    sources: tuple[str, ...] = ()
    """Ids of the records that it was drawn from."""
    at: float = 0.0
    """When this version was learned, in seconds since the epoch."""
    expires: float | None = None
    """From when it is told no more; None: never."""
    version: int = 1
    depth: int = 0
    """The turn (depth) whose review brought it."""

    def live(self, now: float) -> bool:
        """Whether it has not expired."""
        return self.expires is None or now < self.expires


def remembered(memories: Mapping[str, MemoryRecord], record: MemoryRecord, depth: int) -> dict[str, MemoryRecord]:
    """The records with one more, or with a new version of one."""
    old = memories.get(record.id)
    found = {id_: each for id_, each in memories.items() if id_ != record.id}
    found[record.id] = evolve(record, version=max(record.version, old.version + 1 if old else 1), depth=depth)
    return dict(list(found.items())[-MAX_MEMORIES:])


def newest(*groups: Iterable[MemoryRecord]) -> dict[str, MemoryRecord]:
    """The records of several groups by their ids; of two versions of one the later counts."""
    found: dict[str, MemoryRecord] = {}
    for group in groups:
        for record in group:
            known = found.get(record.id)
            if known is None or (known.at, known.version) < (record.at, record.version):
                found[record.id] = record
    return found
