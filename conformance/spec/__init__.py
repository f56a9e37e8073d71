"""The contract of each kind of store, as numbered clauses, read from the Markdown pages in this folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from attrs import frozen

from saga_core import CONTRACT_VERSION
from saga_core.capabilities import Capability

__all__ = ["CONTRACT_VERSION", "KINDS", "PAGES", "STORED", "Clause", "clauses"]

PAGES = ("lifecycle", "state", "graph", "vector", "cache", "curator")
STORED = ("state", "graph", "vector", "cache")
"""The kinds that store data."""
KINDS = (*STORED, "curator")

_CLAUSE = re.compile(
    r"^\*\*(?P<id>[A-Z]-\d+)\*\* (?P<level>MUST|SHOULD)(?: with (?P<given>\w+))?(?:,? without (?P<unless>\w+))?\. "
    r"(?P<text>.+(?:\n(?![\n*#|]).+)*)$",
    re.MULTILINE,
)


@frozen
class Clause:
    """One clause of the contract."""

    id: str
    level: str
    """``MUST`` or ``SHOULD``."""
    page: str
    """The kind of store that the clause binds, or ``lifecycle`` for all kinds."""
    text: str
    given: Capability | None = None
    """If set, the clause binds only stores that declare this capability."""
    unless: Capability | None = None
    """If set, the clause binds only stores that do not declare this capability."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of store that the clause binds."""
        return KINDS if self.page == "lifecycle" else (self.page,)


@cache
def clauses() -> Mapping[str, Clause]:
    """Every clause by its id, in the order of the pages."""
    found: dict[str, Clause] = {}
    for page in PAGES:
        text = files("conformance.spec").joinpath(f"{page}.md").read_text(encoding="utf-8")
        for match in _CLAUSE.finditer(text):
            given, unless = (Capability(name) if name else None for name in match.group("given", "unless"))
            found[match["id"]] = Clause(
                match["id"], match["level"], page, " ".join(match["text"].split()), given, unless
            )
    return found
