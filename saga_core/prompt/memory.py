"""The memory of a session's prompts and its stored form, which is small and has only fingerprints of texts.

It makes the next prompt begin with the same bytes as the previous one, even after a restart. Nothing else depends on
it. If it is lost, the next prompt costs as much as a first one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from attrs import define, evolve, field, frozen

from saga_core.messages import CacheLifetime
from saga_core.prompt.caching import CacheBook, CacheEntry, SentPrompt, SessionPrompts, pack, unpack
from saga_core.prompt.prefix import AccruedCost, Begin, Cuts, Note, PagePins, Pin, SystemPrompt, VolatileText

T = TypeVar("T", bound=Hashable)

_DECISIONS = 64
_ENTRIES = 128
_BLOCKS = 1_024
_LABELS = 24
_NOTES = 128
_UNITS = 4_096


@define
class PromptMemory:
    """The memory of one session's prompts."""

    prompts: SessionPrompts = field(factory=SessionPrompts)
    pins: PagePins = field(factory=PagePins)
    cuts: Cuts = field(factory=Cuts)
    volatile: VolatileText = field(factory=VolatileText)


@frozen
class StoredBook:
    """A stored cache book: entries by fingerprint."""

    provider: str
    model: str
    links: str = ""
    ttls: tuple[CacheLifetime, ...] = ()
    expires: tuple[float, ...] = ()
    scale: float = 0.0
    """Model tokens per token as counted here; 0 if no usage was reported yet."""


@frozen
class StoredPrompt:
    """The last request, with which the next one is compared."""

    at: float
    chain: str
    total: int
    end: int
    turn: str = ""
    labels: tuple[tuple[int, str], ...] = ()


@frozen
class StoredMemory:
    """The memory of a session as stored after each turn: a few thousand bytes."""

    moments: tuple[float, ...] = ()
    books: tuple[StoredBook, ...] = ()
    last: StoredPrompt | None = None
    pins: tuple[Pin, ...] = ()
    pinned: tuple[tuple[str, int], ...] = ()
    """(turn that a prompt continued, index of its pin in ``pins``), oldest first."""
    rents: tuple[tuple[int, int, bool], ...] = ()
    """(index in ``pins``, tokens of changes since then, whether they did not all fit)."""
    begins: tuple[tuple[int, int | None], ...] = ()
    begun: tuple[tuple[str, int], ...] = ()
    """(turn that a history continued, index in ``begins``), oldest first."""
    notes: tuple[Note, ...] = ()
    moving: str = ""
    depths: tuple[int, ...] = ()
    talked: int = 0
    pages: tuple[tuple[str, str], ...] = ()
    """(turn, language) of the pages that are stored as pinned, oldest first."""


@frozen
class StoredSystemPrompt:
    """A system prompt of the client."""

    units: str
    size: int
    whole: int = 0
    ages: tuple[tuple[int, int, int], ...] = ()
    """(fingerprint of a relocated unit, number of requests in a row, tokens)."""


@frozen
class StoredVolatile:
    """The data about the client's system prompts. It is stored only when it changes, which is rare."""

    prompts: tuple[StoredSystemPrompt, ...] = ()


def keep(memory: PromptMemory, scales: Mapping[tuple[str, str], float]) -> tuple[StoredMemory, StoredVolatile]:
    """Return the stored form of ``memory``. ``scales`` has the model tokens per token as counted here, by (provider,
    model)."""
    prompts, volatile = memory.prompts, memory.volatile
    now = prompts.moments[-1] if prompts.moments else 0.0
    decided, cut = memory.pins.latest(_DECISIONS), memory.cuts.latest(_DECISIONS)
    pins, begins = _numbered(pin for _, pin in decided), _numbered(begin for _, begin in cut)
    last = prompts.requests[-1] if prompts.requests else None
    costs = [(at, memory.pins.accrued(pin)) for pin, at in pins.items()]
    kept = StoredMemory(
        tuple(round(each, 3) for each in prompts.moments),
        tuple(_book(key, book, now, scales.get(key, 0.0)) for key, book in prompts.books.items()),
        None if last is None else _request(last),
        tuple(pins),
        tuple((turn, pins[pin]) for turn, pin in decided),
        tuple((at, cost.tokens, cost.full) for at, cost in costs if cost != AccruedCost()),
        tuple((each.first, each.start) for each in begins),
        tuple((turn, begins[begin]) for turn, begin in cut),
        tuple(volatile.notes[-_NOTES:]),
        pack(volatile.moving),
        tuple(sorted(volatile.depths)),
        volatile.talked,
    )
    known = tuple(_prompt(each) for each in volatile.prompts if len(each.units) <= _UNITS)
    return kept, StoredVolatile(known)


def _numbered(values: Iterable[T]) -> dict[T, int]:
    """Return the distinct values with their numbers."""
    numbers: dict[T, int] = {}
    for value in values:
        numbers.setdefault(value, len(numbers))
    return numbers


def _book(key: tuple[str, str], book: CacheBook, now: float, scale: float) -> StoredBook:
    entries = book.entries(now, _ENTRIES)
    return StoredBook(
        *key,
        pack(link for link, _ in entries),
        tuple(entry.ttl for _, entry in entries),
        tuple(round(entry.expires, 3) for _, entry in entries),
        scale,
    )


def _request(request: SentPrompt) -> StoredPrompt:
    labels = [(at, label) for at, label in request.labels.items() if at < _BLOCKS][:_LABELS]
    end = min(request.end, _BLOCKS - 1)
    return StoredPrompt(
        round(request.at, 3), pack(request.chain[:_BLOCKS]), request.total, end, request.turn, tuple(labels)
    )


def _prompt(known: SystemPrompt) -> StoredSystemPrompt:
    ages = tuple((each, age, known.tokens[each]) for each, age in known.ages.items())
    return StoredSystemPrompt(pack(known.units), known.size, known.whole, ages)


def recall(kept: StoredMemory, known: StoredVolatile) -> tuple[PromptMemory, dict[tuple[str, str], float]]:
    """Return the memory that ``keep`` stored, and the scales. Raises ``ValueError`` or ``IndexError`` if damaged."""
    memory, scales = PromptMemory(), dict[tuple[str, str], float]()
    memory.prompts.moments.extend(kept.moments)
    for each in kept.books:
        book = CacheBook()
        for link, ttl, expires in zip(unpack(each.links), each.ttls, each.expires, strict=True):
            book.restore(link, CacheEntry(ttl, expires))
        memory.prompts.books[each.provider, each.model] = book
        if each.scale:
            scales[each.provider, each.model] = each.scale
    if kept.last is not None:
        last = kept.last
        chain = tuple(unpack(last.chain))
        memory.prompts.requests.append(SentPrompt(last.at, chain, last.total, dict(last.labels), last.end, last.turn))
    for turn, at in kept.pinned:
        memory.pins.decide(turn, kept.pins[at])
    for at, tokens, full in kept.rents:
        memory.pins.restore(kept.pins[at], AccruedCost(tokens, full))
    for turn, at in kept.begun:
        memory.cuts.decide(turn, Begin(*kept.begins[at]))
    volatile = memory.volatile
    volatile.prompts += [
        SystemPrompt(
            tuple(unpack(each.units)),
            each.size,
            each.whole,
            {unit: age for unit, age, _ in each.ages},
            {unit: tokens for unit, _, tokens in each.ages},
        )
        for each in known.prompts
    ]
    volatile.notes += kept.notes
    volatile.moving.update(dict.fromkeys(unpack(kept.moving)))
    volatile.depths.update(kept.depths)
    volatile.talked = kept.talked
    return memory, scales


def only(kept: StoredMemory, here: Callable[[str], bool]) -> StoredMemory:
    """Return ``kept`` without the turns for which ``here`` is false."""
    stays = [here(pin.turn) and here(pin.since) for pin in kept.pins]
    place = {at: sum(stays[:at]) for at, each in enumerate(stays) if each}
    last = kept.last
    return evolve(
        kept,
        pins=tuple(kept.pins[at] for at in place),
        pinned=tuple((turn, place[at]) for turn, at in kept.pinned if at in place and here(turn)),
        rents=tuple((place[at], tokens, full) for at, tokens, full in kept.rents if at in place),
        begun=tuple((turn, at) for turn, at in kept.begun if here(turn)),
        pages=tuple((turn, language) for turn, language in kept.pages if here(turn)),
        last=last if last is None or not last.turn or here(last.turn) else evolve(last, turn=""),
    )
