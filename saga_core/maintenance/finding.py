"""A finding: a difference between the data directory and the journal, and how to repair it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from attrs import field, frozen

Mend = Callable[[], Awaitable[None]]


@frozen
class Finding:
    """One difference. Findings that the same call repairs share their ``mend``."""

    session: str
    """The id of the affected session; empty if there is none."""
    store: str
    """``journal``, ``graph``, ``view``, ``pages`` or ``vectors``."""
    what: str
    """The difference, in words."""
    mend: Mend | None = field(default=None, eq=False, repr=False)
    """Repairs the difference from the journal; None if the journal itself has lost data."""

    def __str__(self) -> str:
        return f"{self.store}: {self.what}"

    def plain(self) -> dict[str, Any]:
        """The finding as data."""
        return {
            "session": self.session or None,
            "store": self.store,
            "what": self.what,
            "mendable": self.mend is not None,
        }


async def mend(findings: Iterable[Finding]) -> int:
    """Repair the findings that can be repaired, calling each ``mend`` once. Returns the number of findings repaired."""
    mends: dict[int, Mend] = {}
    count = 0
    for finding in findings:
        if finding.mend is not None:
            mends.setdefault(id(finding.mend), finding.mend)
            count += 1
    for each in mends.values():
        await each()
    return count
