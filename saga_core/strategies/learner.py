"""A learner: a memory strategy that works as an additional curator. It only proposes; the core decides.

Each of its reviews covers the turns since its previous review on the path. Its proposals are validated, journaled and
undone like those of any curator.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

from attrs import define, field, frozen

from saga_core.errors import QUOTES, BadInput, Closed
from saga_core.foreign import in_time
from saga_core.model import MemoryRecord, newest
from saga_core.model_calls import CuratorModel, ModelCallFailed, Unusable, read_object, without_injected
from saga_core.ports import Clock
from saga_core.stores import CurationView, Health, StoreInfo
from saga_core.strategies import question
from saga_core.strategies.consolidation import nearest
from saga_core.strategies.strategy import MAX_TEXT, LearnedRecord, RecordKind, Strategy
from saga_core.values import Proposal

PREFIX = "memory."
"""The prefix of a learner's name. The strategy's name in the configuration follows."""
MOST = 8
"""The largest number of records that one run may propose."""
CHECK_SECONDS = 10.0
"""How long the checks of the records of a run may take. They are the code of others."""
_SHOWN = 24
"""The largest number of known records that the model is shown: the most similar ones."""
_DAY = 86_400.0
_SAID = 120


@frozen
class Terms:
    """The settings of a strategy from the configuration."""

    name: str
    namespaces: Mapping[str, str]
    """Kind of records -> namespace."""
    most: int
    """The largest number of live records in one namespace."""
    expires_days: float


@define(eq=False)
class Learner:
    """One configured strategy, and the model that it asks."""

    strategy: Strategy
    terms: Terms
    asked: CuratorModel
    count: Callable[[str], int]
    clock: Clock
    info: StoreInfo = field(init=False)
    _closed: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.info = StoreInfo("curator", PREFIX + self.terms.name, version("saga-rp"), frozenset())

    async def check(self, *, thorough: bool = False) -> Health:
        """Return ok. A learner has no data that could be damaged."""
        return Health(True)

    async def aclose(self) -> None:
        """Close the learner. It holds no resources."""
        self._closed = True

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """Return proposals. Raises ``ModelCallFailed`` if both answers are unusable, ``UpstreamError``, ``Closed``."""
        if self._closed:
            raise Closed(f"the strategy {self.terms.name!r} is closed")
        if not view.turns:
            return ()
        now, places = self.clock.now(), self.terms.namespaces
        own = [each for each in view.state.memories.values() if each.namespace in places.values()]
        known = [each for each in newest(own, view.memories).values() if each.namespace in places.values()]
        told = "\n".join(without_injected(f"{turn.user}\n{turn.reply}") for turn in view.turns)
        shown = {
            f"r{number}": record
            for number, record in enumerate(nearest(told, [each for each in known if each.live(now)], _SHOWN), 1)
        }
        records = await self._ask(view, shown)
        learned = await asyncio.to_thread(
            in_time,
            f"a check of the strategy {self.strategy.name!r}",
            lambda: [self._proposal(each, view, shown, now) for each in records[:MOST]],
            CHECK_SECONDS,
        )
        live = [record for record in own if record.live(now)]
        return (*(self._gone(record) for record in own if not record.live(now)), *learned, *self._let_go(live, learned))

    async def _ask(self, view: CurationView, shown: Mapping[str, MemoryRecord]) -> list[Mapping[str, Any]]:
        plan = question.ask(self.strategy, view, shown, self.count, MAX_TEXT)
        form = question.schema(self.strategy)
        said = await self.asked.ask(plan, view, schema=form)
        try:
            return _records(said.text)
        except Unusable as problem:
            self.asked.report("curation.repairs", 1)
            said = await self.asked.ask(question.ask_again(plan, view.language, str(problem)), view, schema=form)
        try:
            return _records(said.text)
        except Unusable as problem:
            begins = " ".join(said.text.split())[:_SAID]
            raise ModelCallFailed(f"the answer cannot be used: {problem}{QUOTES}{begins!r}") from None

    def _proposal(
        self,
        given: Mapping[str, Any],
        view: CurationView,
        shown: Mapping[str, MemoryRecord],
        now: float,
    ) -> Proposal:
        """Return one record of an answer as a proposal. An unfit record carries the reason for its refusal."""
        text, do = _text(given.get("text")), _text(given.get("do")) or "add"
        old = shown.get(_text(given.get("record")))
        kind = self.strategy.kind(_text(given.get("kind")) or (old.kind if old is not None else ""))
        turns = tuple(dict.fromkeys(_turns(given.get("turns"), view)))
        sources = [shown[label].id for label in _texts(given.get("from")) if label in shown]
        reason = self._unfit(given, do, kind, old, turns, sources, view)
        data = {
            "do": do,
            "record": old.id if old is not None and do == "update" else "",
            "strategy": self.terms.name,
            "kind": kind.name if kind is not None else "",
            "namespace": self.terms.namespaces[kind.name] if kind is not None else "",
            "text": text,
            "at": repr(now),
            "expires": repr(now + self.terms.expires_days * _DAY) if self.terms.expires_days else "",
            "sources": " ".join(sources),
            "refused": reason,
        }
        for detail in kind.details if kind is not None else ():
            if value := _text(given.get(detail.name)):
                data[f"detail.{detail.name}"] = value
        return Proposal("remember", f"{do} {data['kind']}: {text}", turns, (), {k: v for k, v in data.items() if v})

    def _unfit(
        self,
        given: Mapping[str, Any],
        do: str,
        kind: RecordKind | None,
        old: MemoryRecord | None,
        turns: tuple[str, ...],
        sources: list[str],
        view: CurationView,
    ) -> str:
        if do not in ("add", "update"):
            return f"do is {do!r}; give add or update"
        if kind is None:
            names = ", ".join(each.name for each in self.strategy.kinds)
            return f"the kind {_text(given.get('kind'))!r} is none of {names}"
        if do == "update" and old is None:
            return f"the record {_text(given.get('record'))!r} was not shown"
        details = {detail.name: _text(given.get(detail.name)) for detail in kind.details}
        for detail in kind.details:
            value = details[detail.name]
            if detail.needed and not value:
                return f"{detail.name} is missing"
            if value and detail.of and value not in detail.of:
                return f"{detail.name} is {value!r}; give one of {', '.join(detail.of)}"
        if len(set(sources)) < kind.sources:
            return f"it is drawn from {len(set(sources))} known records; {kind.sources} are needed"
        spoken = "\n".join(turn.user for turn in view.turns if turn.id in turns)
        if kind.check is None:
            return ""
        why: Any = kind.check(LearnedRecord(kind.name, _text(given.get("text")), details, spoken))
        if not isinstance(why, str):
            raise BadInput(
                f"strategy {self.strategy.name!r}: check of the kind {kind.name!r} gave a {type(why).__name__}; give a "
                "text, which is empty if the record may be kept"
            )
        return why

    def _let_go(self, own: list[MemoryRecord], learned: list[Proposal]) -> Iterator[Proposal]:
        """Yield proposals that drop the oldest records of namespaces that are full."""
        for namespace in dict.fromkeys(record.namespace for record in own):
            kept = [record for record in own if record.namespace == namespace]
            touched = {each.data.get("record") for each in learned}
            more = sum(each.data.get("do") == "add" and each.data.get("namespace") == namespace for each in learned)
            over = len(kept) + more - self.terms.most
            kept.sort(key=lambda record: (record.id in touched, record.at, record.depth, record.id))
            yield from (self._gone(record) for record in kept[: max(0, over)])

    def _gone(self, record: MemoryRecord) -> Proposal:
        data = {"do": "drop", "record": record.id, "at": repr(self.clock.now())}
        return Proposal("remember", f"drop {record.kind}: {record.text}", (), (), data)


def _records(text: str) -> list[Mapping[str, Any]]:
    """Return the records of an answer, which may also be a single record. Raises ``Unusable``."""
    found = read_object(text)
    if "records" not in found and "text" in found:
        return _complete(text) if '"records"' in text else [found]
    records = found.get("records", [] if not found else None)
    if isinstance(records, Mapping):
        records = [records]
    if not isinstance(records, list) or not all(isinstance(each, Mapping) for each in records):
        raise Unusable("it has no list of records")
    return list(records)


def _complete(text: str) -> list[Mapping[str, Any]]:
    """Return the complete records of an answer that was cut off."""
    found, decoder, at = list[Mapping[str, Any]](), json.JSONDecoder(), text.index('"records"')
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            break
        found.append(value)
    return found


def _turns(given: Any, view: CurationView) -> Iterator[str]:
    """Return the ids of the turns with these numbers. Unknown numbers stay as they are, and are refused later."""
    by_depth = {turn.depth: turn.id for turn in view.turns}
    for each in _texts(given):
        digits = None if each.startswith("-") else re.search(r"\d{1,9}", each)
        yield by_depth.get(int(digits.group()), each) if digits else each


def _texts(value: Any) -> list[str]:
    return [text for each in (value if isinstance(value, list) else [value]) if (text := _text(each))]


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())
