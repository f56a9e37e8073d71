"""The cards job: a model reads the card and the persona of a new session once.

What it finds is a change at the root of the session, which is listed, explained and undone like a curator's. Characters
whom the story had taken for others under these names are merged. Answers are kept by the hash of the text, so that the
next chat with the same card costs no call.
"""

from __future__ import annotations

import logging
from hashlib import blake2b
from typing import TYPE_CHECKING

from attrs import define, field
from cachetools import LRUCache

from saga_core.background import DONE, Job, Step
from saga_core.errors import NotFound, QuotaExceeded, UpstreamError
from saga_core.jobs.asking import Asking
from saga_core.jobs.extraction import LOOK_AGAIN
from saga_core.jobs.personas import introduced
from saga_core.language import detect
from saga_core.model import Delta, Source, deltas
from saga_core.model_calls import ModelCallFailed
from saga_core.sessions import LiveSession, amend

if TYPE_CHECKING:
    from saga_core.extraction import CardReading, Extractor

log = logging.getLogger("saga.jobs")

CARDS = "extraction.cards"
"""The degraded mode in which cards are not read, because the model cannot be asked or does not answer."""
_KEPT = 256
"""Readings that are kept, and cards that may wait. The reading used least recently is dropped."""
_LEAST = 40
"""Characters of a text that is worth a question."""


@define(eq=False, kw_only=True, slots=False)
class CardsJob(Job):
    """Reads the cards of new sessions. Without a ``reader`` it does nothing."""

    kind = "card"
    counter = "cards"
    mode = "cards"

    reader: Extractor | None
    asking: Asking
    _cards: dict[str, str] = field(factory=dict)
    """Session -> the text that is to be read."""
    _read: LRUCache[bytes, CardReading] = field(factory=lambda: LRUCache(_KEPT))

    def began(self, session: str, card: str) -> None:
        """Read the card of a session whose first turn was recorded."""
        if self.reader is None or len(card.strip()) < _LEAST:
            return
        if len(self._cards) >= _KEPT:
            self.asking.counters.add(
                "cards.left_out"
            )  # so many chats begin at once that their cards are read by rules alone
            return
        self._cards[session] = card
        self.wake(session)

    async def step(self, session: str) -> Step:
        """Read the card of one session, and record what it says."""
        card = self._cards.pop(session, "")
        if not card or self.reader is None:
            return DONE
        try:
            live = await self.asking.live.get(session)
            reading = await self._reading(live, card, self.reader)
            await self._record(session, reading)
        except NotFound:
            return DONE  # the session was deleted
        except QuotaExceeded as over:
            self._cards[session] = card
            return Step(again_in=min(over.free_in, LOOK_AGAIN))
        except (ModelCallFailed, UpstreamError) as error:
            log.warning("session %s: its card is read by rules alone: %s", session, error)
            self.asking.counters.add("cards.failures")
            self.asking.counters.degrade(CARDS, f"{self.asking.model} did not read a card: {error}")
            return DONE
        self.asking.counters.recover(CARDS)
        return Step(done=1)

    async def _reading(self, live: LiveSession, card: str, reader: Extractor) -> CardReading:
        from saga_core.extraction import read_card  # only needed with a model

        key = blake2b(card.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if (found := self._read.get(key)) is not None:
            return found
        language = detect(card, live.world.language)
        paid = self.asking.paid(live, live.tree.root)
        found = await read_card(card, language, reader, before_call=self.asking.admitted(live), paid=paid)
        self._read[key] = found
        self.asking.counters.add("cards.read")
        return found

    async def _record(self, session: str, reading: CardReading) -> None:
        from saga_core.extraction import card_events, doubles  # only needed with a model

        async with self.asking.supervisor.exclusive(session, journal=True):
            live = await self.asking.live.get(session)
            root, head = live.tree.root, live.head
            opening, now = await live.state(root), await live.state(head)
            events = card_events(reading, opening, now)
            if not events:
                return
            number = self.asking.ids.new("a")
            await amend(live, root, Delta(events, Source.CURATION, id=number), number)
            changed = [root]
            for other, owner in doubles(reading, await live.state(head)).items():
                first, again = await introduced(live, head, other), self.asking.ids.new("a")
                await amend(live, first, Delta((deltas.Merged(other, owner),), Source.CURATION, id=again), again)
                changed.append(first)
            self.asking.views.submit(session, changed)
        log.info("session %s: its card was read; change %s", session, number)

    def forget(self, session: str) -> None:
        """Drop the card of a session that is about to be removed."""
        self._cards.pop(session, None)
