"""Warm-up: imports what playing needs and starting does not, right after the start, so that no turn waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pkgutil import iter_modules

from saga_core import codec, registry
from saga_core.billing import Bill
from saga_core.language import known
from saga_core.model import Node, Session, Turn, WorldState
from saga_core.play import KeptPage
from saga_core.prompt import Kept, KeptVolatile
from saga_core.world import World

log = logging.getLogger("saga")

_MODULES = (
    "rapidfuzz.distance",
    "saga_core.curation.validation",
    "saga_core.curation.corrections",
    "saga_core.strategies.consolidation",
)
_RECORDS = (Session, Turn, Node, WorldState, World, Bill, Kept, KeptVolatile, KeptPage)
"""What a turn reads and writes."""


def warm_up_steps() -> Iterator[Callable[[], None]]:
    """What is to be done, piece by piece, each for a thread and of a tenth of a second at most; what is needed first
    comes first: the readers and writers of records, the languages, then what was put off by the backends that were
    loaded (``Backend.warm_up``) and by the engine. What cannot be imported is logged, and met again by whoever needs
    it.
    """
    yield partial(codec.prepare, *_RECORDS)
    for tag in known():
        yield partial(_import_language, tag)
    for name in (*registry.warm_up(), *_MODULES):
        yield partial(_import, name)


def _import_language(tag: str) -> None:
    """Everything that is said and read in a language: the words of one message decide which is wanted."""
    folder = import_module(f"saga_core.language.{tag}")
    for part in iter_modules(folder.__path__):
        _import(f"{folder.__name__}.{part.name}")


def _import(name: str) -> None:
    try:
        import_module(name)
    except ImportError as error:
        log.warning("%s cannot be imported: %s", name, error)
