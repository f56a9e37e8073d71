"""A learner: a memory strategy at work, as one more curator. It asks once, and proposes; the core decides.

A review of it is a run: its turns are those since the run before it on the path, and what comes of it is judged,
journaled and undone as any curator's proposals are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

from attrs import define, field, frozen

from saga_core.errors import QUOTES, Closed
from saga_core.model import MemoryRecord, newest
from saga_core.model_calls import Asking, ModelCallFailed, Unusable, read_object, without_injected
from saga_core.ports import Clock
from saga_core.stores import CurationView, Health, StoreInfo
from saga_core.strategies import question
from saga_core.strategies.consolidation import nearest
from saga_core.strategies.strategy import MAX_TEXT, Learned, RecordKind, Strategy
from saga_core.values import Proposal

PREFIX = "memory."
"""What a learner is called: this, and the strategy's name in the configuration."""
MOST = 8
"""Records that one run may bring."""
_SHOWN = 24
"""Known records that a model is shown, at most: the nearest ones."""
_DAY = 86_400.0
_SAID = 120


@frozen
class Terms:
    """On what terms a strategy works: what the configuration says of it."""

    name: str
    namespaces: Mapping[str, str]
    """Kind of records to its namespace."""
    most: int
    """Live records of one namespace."""
    expires_days: float


@define(eq=False)
class Learner:
    """One strategy of the configuration, and the model that it asks."""

    strategy: Strategy
    terms: Terms
    asked: Asking
    count: Callable[[str], int]
    clock: Clock
    info: StoreInfo = field(init=False)
    _closed: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.info = StoreInfo("curator", PREFIX + self.terms.name, version("saga-rp"), frozenset())

    async def check(self, *, thorough: bool = False) -> Health:
        """There is nothing that could be damaged."""
        return Health(True)

    async def aclose(self) -> None:
        """Nothing is held."""
        self._closed = True

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """What the turns teach. Raises ``ModelCallFailed`` when neither answer can be read, and ``UpstreamError``."""
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
        learned = [self._proposal(each, view, shown, now) for each in records[:MOST]]
        return (*(self._gone(record) for record in own if not record.live(now)), *learned, *self._let_go(own, learned))

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
        """One record of an answer. What does not fit is proposed as it is, with the reason why it is refused."""
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
        return kind.check(Learned(kind.name, _text(given.get("text")), details, spoken)) if kind.check else ""

    def _let_go(self, own: list[MemoryRecord], learned: list[Proposal]) -> Iterator[Proposal]:
        """What goes because a namespace is full: what was learned or changed longest ago."""
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
    """The records of an answer. Raises ``Unusable``. One of them by itself is an answer too."""
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
    """The records of an answer that was cut off: those that are whole. A cut one says nothing."""
    found, decoder, at = list[Mapping[str, Any]](), json.JSONDecoder(), text.index('"records"')
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            break
        found.append(value)
    return found


def _turns(given: Any, view: CurationView) -> Iterator[str]:
    """The turns of those numbers; what was not shown stays as it is, to be refused."""
    by_depth = {turn.depth: turn.id for turn in view.turns}
    for each in _texts(given):
        digits = re.search(r"\d{1,9}", each)
        yield by_depth.get(int(digits.group()), each) if digits else each


def _texts(value: Any) -> list[str]:
    return [text for each in (value if isinstance(value, list) else [value]) if (text := _text(each))]


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())
