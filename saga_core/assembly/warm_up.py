"""Warm-up: import the modules that play needs right after the start, so that no turn waits for them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pkgutil import iter_modules

from saga_core import codec, registry
from saga_core.billing import Bill
from saga_core.language import known, language_of, normalized, terms
from saga_core.model import Session, Turn, TurnNode, WorldState
from saga_core.naming import Evidence
from saga_core.play import PinnedPage
from saga_core.projection import clauses, weight
from saga_core.prompt import StoredMemory, StoredVolatile
from saga_core.recall import looks_back
from saga_core.transcript import read_transcript
from saga_core.world import World

log = logging.getLogger("saga")

_MODULES = (
    "saga_core.curation.validation",
    "saga_core.curation.corrections",
    "saga_core.strategies.consolidation",
    "saga_core.modules.map",
    "saga_core.modules.rpg",
)
_RECORDS = (Session, Turn, TurnNode, WorldState, World, Bill, StoredMemory, StoredVolatile, PinnedPage)
"""The records that a turn reads and writes."""
_LONG = 300
"""A number of letters with combining marks that is too large for the fast path of normalisation."""


def warm_up_steps() -> Iterator[Callable[[], None]]:
    """Yield the warm-up steps, each for a thread and at most a tenth of a second long.

    The most urgent come first: the readers and writers of records, then the languages, then the modules that the loaded
    backends (``Backend.warm_up``) and the engine import late. Failed imports are logged; they fail again at the first
    use.
    """
    yield partial(codec.prepare, *_RECORDS)
    for tag in known():
        yield partial(_import_language, tag)
        yield partial(_read_a_word, tag)
    for name in (*registry.warm_up(), *_MODULES):
        yield partial(_import, name)


def _import_language(tag: str) -> None:
    """Import all modules of a language, because one message can decide which language is needed."""
    folder = import_module(f"saga_core.language.{tag}")
    for part in iter_modules(folder.__path__):
        _import(f"{folder.__name__}.{part.name}")


def _read_a_word(tag: str) -> None:
    """Process a word of a language like the text of a request. Its patterns would delay the first request by 20 ms."""
    word = language_of(tag).labels.player
    for text in (word, "e\u0301\u0316" * _LONG):
        normalized("NFC", text)
    terms(word)
    looks_back(word)
    for clause in clauses(f"{word}."):
        weight(clause)
    read_transcript([{"role": "user", "content": word}])
    Evidence(card=f"{word}: {word}.").entry(word)


def _import(name: str) -> None:
    try:
        import_module(name)
    except ImportError as error:
        log.warning("%s cannot be imported: %s", name, error)
