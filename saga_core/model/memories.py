"""Memory records: what memory strategies learned from the turns of a path, and the records that a state keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, field, frozen

MAX_MEMORIES = 512
"""The records that one state keeps. Beyond this limit the oldest are dropped. Strategies have lower limits."""


@frozen
class MemoryRecord:
    """A fact that was learned, with the turns that are its evidence."""

    id: str
    strategy: str
    """The name of the strategy in the configuration; empty for records added by hand."""
    kind: str
    """``fact``, ``preference``, ``summary``, ``episode``, ``reflection``, or a plugin's own kind."""
    namespace: str
    """With unfilled ``{actor}`` and ``{session}``: the place of the record tells its actor and session."""
    text: str
    details: Mapping[str, str] = field(factory=dict)
    turns: tuple[str, ...] = ()
    """Ids of the turns that it was learned from, oldest first. An updated record has those of both versions."""
    sources: tuple[str, ...] = ()
    """Ids of the records that it was derived from."""
    at: float = 0.0
    """When this version was learned, in seconds since the epoch."""
    expires: float | None = None
    """The time from which it is no longer used. None: never."""
    version: int = 1
    depth: int = 0
    """The turn (depth) whose review added it."""

    def live(self, now: float) -> bool:
        """Whether the record has not expired."""
        return self.expires is None or now < self.expires


def remembered(memories: Mapping[str, MemoryRecord], record: MemoryRecord, depth: int) -> dict[str, MemoryRecord]:
    """Return the records with one more, or with a new version of one."""
    old = memories.get(record.id)
    found = {id_: each for id_, each in memories.items() if id_ != record.id}
    found[record.id] = evolve(record, version=max(record.version, old.version + 1 if old else 1), depth=depth)
    return dict(list(found.items())[-MAX_MEMORIES:])


def newest(*groups: Iterable[MemoryRecord]) -> dict[str, MemoryRecord]:
    """Return the records of several groups by id. The latest version of a record wins."""
    found: dict[str, MemoryRecord] = {}
    for group in groups:
        for record in group:
            known = found.get(record.id)
            if known is None or (known.at, known.version) < (record.at, record.version):
                found[record.id] = record
    return found
