"""Warm-up: imports what playing needs and starting does not, right after the start, so that no turn waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pkgutil import iter_modules

from saga_core import codec, registry
from saga_core.billing import Bill
from saga_core.language import known, language_of, normalized, terms
from saga_core.model import Node, Session, Turn, WorldState
from saga_core.play import KeptPage
from saga_core.projection import clauses, weight
from saga_core.prompt import Kept, KeptVolatile
from saga_core.recall import looks_back
from saga_core.transcript import read_transcript
from saga_core.world import World

log = logging.getLogger("saga")

_MODULES = (
    "saga_core.curation.validation",
    "saga_core.curation.corrections",
    "saga_core.strategies.consolidation",
)
_RECORDS = (Session, Turn, Node, WorldState, World, Bill, Kept, KeptVolatile, KeptPage)
"""What a turn reads and writes."""
_LONG = 300
"""Letters with marks that are more than are sorted at a glance."""


def warm_up_steps() -> Iterator[Callable[[], None]]:
    """What is to be done, piece by piece, each for a thread and of a tenth of a second at most; what is needed first
    comes first: the readers and writers of records, the languages, then what was put off by the backends that were
    loaded (``Backend.warm_up``) and by the engine. What cannot be imported is logged, and met again by whoever needs
    it.
    """
    yield partial(codec.prepare, *_RECORDS)
    for tag in known():
        yield partial(_import_language, tag)
        yield partial(_read_a_word, tag)
    for name in (*registry.warm_up(), *_MODULES):
        yield partial(_import, name)


def _import_language(tag: str) -> None:
    """Everything that is said and read in a language: the words of one message decide which is wanted."""
    folder = import_module(f"saga_core.language.{tag}")
    for part in iter_modules(folder.__path__):
        _import(f"{folder.__name__}.{part.name}")


def _read_a_word(tag: str) -> None:
    """Read a word of a language as those of a request are, for whose patterns the first request waited 20 ms."""
    word = language_of(tag).labels.player
    for text in (word, "e\u0301\u0316" * _LONG):
        normalized("NFC", text)
    terms(word)
    looks_back(word)
    for clause in clauses(f"{word}."):
        weight(clause)
    read_transcript([{"role": "user", "content": word}])


def _import(name: str) -> None:
    try:
        import_module(name)
    except ImportError as error:
        log.warning("%s cannot be imported: %s", name, error)
