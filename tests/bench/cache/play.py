"""Play a chat through the real engine with a simulated clock, and bill every prompt of it.

The client works like SillyTavern: it keeps the chat, and sends all of it with its system prompt each time. The engine
begins and commits each turn as in a server, and the replies are generated. The prompts that SAGA would send are billed
by the strict rules of ``cache.rules``, and so are the prompts that the client would send without SAGA.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from saga_backends.tokens.estimate import EstimateCounter
from saga_core import Saga
from saga_core.messages import PromptPlan, Stability, flatten
from saga_core.ports import Usage
from saga_core.upstream import facts_of
from tests.bench.cache.cases import PACES, Case
from tests.bench.cache.ideal import Wish, ideal_cost
from tests.bench.cache.rules import AutomaticCache, Charge, MarkedCache, Piece, Rates
from tests.bench.play import CONFIG, PlayOptions, prepare
from tests.bench.small_model import MODEL, SmallModel
from tests.bench.story.cast import make_cast
from tests.bench.story.storyteller import Storyteller, Told

_START = 1_790_000_000.0
_TOKENIZER = EstimateCounter(1.15)
"""The provider counts tokens differently from SAGA."""
_FROM = 3
"""The first turn for which reuse is measured."""


@define
class PlayClock:
    """A clock that the play advances."""

    at: float = _START

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.at

    def monotonic(self) -> float:
        """The same as ``now``. No durations are measured with this clock."""
        return self.at


@frozen
class Row:
    """A request and its bill."""

    turn: int
    charge: Charge
    context: int
    """Tokens of the volatile context."""
    output: int
    visible: int
    """Tokens of the output that the player sees."""
    pinned: str
    marks: tuple[tuple[int, str], ...]


@define
class Bill:
    """The cost of one way of sending the chat, in tokens at the input price."""

    name: str
    charges: list[Charge] = field(factory=list)
    cost: float = 0.0

    def add(self, charge: Charge, rates: Rates) -> None:
        """Add a request."""
        self.charges.append(charge)
        self.cost += rates.cost(charge)

    @property
    def read_share(self) -> float:
        """The part of all input tokens that was read from the cache."""
        return sum(each.read for each in self.charges) / max(1, sum(each.total for each in self.charges))


@frozen
class Result:
    """The result of a case."""

    case: Case
    rows: tuple[Row, ...]
    saga: Bill
    others: tuple[Bill, ...]
    """The bills of the same chat without SAGA: without a cache, in automatic mode, with three breakpoints."""
    ideal: float
    output: int
    visible: int
    """Tokens of ``output`` without state blocks."""
    pins: Mapping[str, int]
    extraction: float
    curation: float
    """This and ``extraction`` are US dollars of background calls, from the ledger."""
    price: float
    """US dollars for a million input tokens."""
    output_price: float

    @property
    def reuse(self) -> float:
        """The share of the cached tokens that was read, from turn 3 on."""
        rows = [row.charge for row in self.rows if row.turn >= _FROM]
        return sum(row.read for row in rows) / max(1, sum(row.shared for row in rows))

    @property
    def beside_ideal(self) -> float:
        """The input cost as a multiple of the ideal client's."""
        return self.saga.cost / self.ideal


@define
class Chat:
    """A client's chat."""

    case: Case
    teller: Storyteller
    system: tuple[str, ...]
    said: list[tuple[str, str]] = field(factory=list)
    """Role and text."""
    floating: list[str] = field(factory=list)
    """The floating texts of the last request."""

    def messages(self, words: str, number: int, now: float) -> list[dict[str, Any]]:
        """The messages of the request with the player's ``words``."""
        head, *rest = self.system
        self.floating = []
        dialogue = [{"role": role, "content": text} for role, text in [*self.said, ("user", words)]]
        system = [{"role": "system", "content": text} for text in (head, *rest)]
        if self.case.floats == "tavern":
            return self._tavern(system, dialogue, number)
        if self.case.floats:
            minutes = int(now // 60) % 1440
            time = f"The clock on the wall shows {minutes // 60:02d}:{minutes % 60:02d}."
            system[0] = {"role": "system", "content": f"{head}\n{time}\nNever speak for the player."}
            self.floating.append(time)
            self._lore(system, number)
            note = f"[Note: scene {number // 2 + 1}. Keep the rain falling, the answers short.]"
            dialogue.insert(max(0, len(dialogue) - 2), {"role": "system", "content": note})
            self.floating.append(note)
        return [*system, *dialogue]

    def _lore(self, system: list[dict[str, Any]], number: int) -> None:
        for entry, (every, length) in enumerate(((7, 3), (11, 2))):
            if number % every < length and number > every:
                lore = f"Lore of the {('brass key', 'flooded archive')[entry]}: " + "it opens what was shut. " * 12
                system.insert(1 + entry, {"role": "system", "content": lore})
                self.floating.append(lore)

    def _tavern(
        self, system: list[dict[str, Any]], dialogue: list[dict[str, Any]], number: int
    ) -> list[dict[str, Any]]:
        self._lore(system, number)
        note, end = "The warden never lies, and never hurries.", "Keep the reply under 120 words."
        dialogue.insert(max(0, len(dialogue) - 4), {"role": "system", "content": note})
        self.floating += [note, end]
        return [*system, *dialogue, {"role": "system", "content": end}]


async def play(case: Case, folder: Path) -> Result:
    """Play a case in ``folder``, which must be empty."""
    options = PlayOptions(case.turns, 60, 40, "memory", "en")
    prepare(folder, options)
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if case.window:
        config["token_budget"] = {"total_context_max": case.window}
    small = SmallModel(_TOKENIZER.count) if case.unreported else None
    if small is not None:
        config["models"] = {"extraction": MODEL, "curator": MODEL}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    cast = make_cast("en", 60, 40, 1)
    teller = Storyteller(cast, "en", case.turns, 1)
    prompt = _sized(teller.system_prompt(case.system), case.system)
    tail = "Write the next reply as the narrator. Never end the scene."
    chat = Chat(case, teller, (prompt, tail))
    clock = PlayClock()
    async with Saga.open(folder / CONFIG, clock=clock, extractor=small, curator=small) as saga:
        biller = _Biller(case, saga)
        for number in range(1, case.turns + 1):
            clock.at += PACES[case.pace](number)
            if case.branch and number % case.branch == 0:
                back = 2 * (3 + number * 7 % 10)
                del chat.said[-back:]
            told = teller.next()
            await biller.turn(chat, told, number, clock)
            if small is not None:
                await saga.drain(60)
            if case.swipe and number % case.swipe == 0:
                clock.at += PACES[case.pace](number)
                again = evolve(teller.again(), words=told.words)
                await biller.turn(chat, again, number, clock, swipe=True)
            await saga.background.drain_views(60)
        bills = next(iter((await saga.sessions.costs()).values())).by_purpose if small is not None else {}
        behind = [bills[purpose].dollars if bills else 0.0 for purpose in ("extraction", "curation")]
        return biller.result(*behind)


def _sized(text: str, tokens: int) -> str:
    lines = text.splitlines()
    kept: list[str] = []
    spent = 0
    for line in lines:
        spent += _TOKENIZER.count(line + "\n")
        if spent > tokens:
            break
        kept.append(line)
    return "\n".join(kept)


@define
class _Biller:
    case: Case
    saga: Saga
    rows: list[Row] = field(factory=list)
    wishes: list[Wish] = field(factory=list)
    saga_bill: Bill = field(factory=lambda: Bill("SAGA"))
    others: tuple[Bill, ...] = field(factory=lambda: (Bill("no cache"), Bill("automatic"), Bill("three breakpoints")))
    pages: str = ""

    def __attrs_post_init__(self) -> None:
        facts = facts_of(self.case.model, self.case.provider)
        self.facts = facts
        self.marked = facts.cache == "explicit"
        if self.marked:
            short, long = min(facts.writes.values()), max(facts.writes.values())
            self.rates = Rates(facts.read, short, long)
        else:
            self.rates = Rates(facts.read)
        self.cache = self._new_cache()
        self.other_caches = (None, self._new_cache(), self._new_cache())

    facts: Any = field(init=False)
    marked: bool = field(init=False)
    rates: Rates = field(init=False)
    cache: MarkedCache | AutomaticCache = field(init=False)
    other_caches: tuple[MarkedCache | AutomaticCache | None, ...] = field(init=False)

    def _new_cache(self) -> MarkedCache | AutomaticCache:
        facts = self.facts
        if self.marked:
            claude = self.case.provider == "anthropic"
            return MarkedCache(facts.cache_minimum, 20 if claude else 1, claude)
        return AutomaticCache(facts.cache_minimum, max(1, facts.cache_step))

    async def turn(self, chat: Chat, told: Told, number: int, clock: PlayClock, *, swipe: bool = False) -> None:
        if swipe:
            del chat.said[-2:]
        messages = chat.messages(told.words, number, clock.now())
        begun = await self.saga.begin(messages, model=self.case.model, provider=self.case.provider)
        charge = self.cache.send(pieces(begun.plan), clock.now())
        self.saga_bill.add(charge, self.rates)
        silent = self.case.unreported and number % self.case.unreported == 0
        raw = told.reply if silent else told.raw
        output = _TOKENIZER.count(raw)
        # SAGA learns from bills how the provider counts tokens.
        usage = Usage(charge.total, output, charge.read, charge.written, charge.written_1h)
        begun.billed(usage, model=self.case.model, provider=self.case.provider)
        begun.replies[0].feed(raw)
        begun.replies[0].finish()
        await begun.commit()
        marks = tuple((at, str(b.breakpoint)) for at, b in enumerate(begun.plan.blocks) if b.breakpoint)
        reason = begun.planned.reason if begun.planned is not None else ""
        shown = _TOKENIZER.count(begun.replies[0].text)
        self.rows.append(Row(number, charge, _TOKENIZER.count(begun.context.text), output, shown, reason, marks))
        self.wishes.append(self._wish(begun.plan, chat, told.words, clock.now()))
        self._without(messages, clock.now())
        chat.said += [("user", told.words), ("assistant", told.reply)]

    def _wish(self, plan: PromptPlan, chat: Chat, words: str, now: float) -> Wish:
        """The ideal request: the same texts, with the floating ones after everything that can be repeated."""
        stable = [flatten(b.content) for b in plan.blocks if b.stability is Stability.STABLE and not b.extra]
        ours = [text for text in stable if text.startswith(("[SAGA", "# ", "## "))]
        if not self.pages and ours:
            self.pages = ours[-1]
        system = [*chat.system, *ours[:-1], self.pages] if ours else list(chat.system)
        history = [
            (flatten(b.content), b.role == "assistant")
            for b in plan.blocks
            if b.stability is Stability.HISTORY and b.role in ("user", "assistant")
        ]
        told = [*((text, False) for text in system), *history]
        steady = tuple(Piece(text, _size(text), said=said) for text, said in told)
        lead = "".join(b.lead for b in plan.blocks)
        tail = sum(_size(text) for text in chat.floating if text not in lead)
        return Wish(now, steady, tail + _size(words) + (_size(lead) if lead else 0))

    def _without(self, messages: Sequence[Mapping[str, Any]], now: float) -> None:
        """Bill the client's own prompt, as it would send it without SAGA."""
        roles = [m["role"] for m in messages]
        plain = [
            Piece(str(m["content"]), _size(str(m["content"])), said=role == "assistant")
            for m, role in zip(messages, roles, strict=True)
        ]
        claude = self.case.provider == "anthropic"
        talk = [at if claude else at - 1 for at, role in enumerate(roles) if role == "assistant"]
        first = next((at for at, role in enumerate(roles) if role != "system"), len(roles))
        marked = {first - 1, *([talk[len(talk) // 2]] if talk else []), *talk[-1:]}
        total = sum(piece.tokens for piece in plain)
        self.others[0].add(Charge(plain=total), self.rates)
        life = "5m" if claude else "30m"
        for bill, cache, marks in zip(self.others[1:], self.other_caches[1:], ({len(plain) - 1}, marked), strict=True):
            assert cache is not None
            sent = [
                evolve(piece, mark=life if self.marked and at in marks else None)  # type: ignore[arg-type]
                for at, piece in enumerate(plain)
            ]
            bill.add(cache.send(sent, now), self.rates)

    def result(self, extraction: float, curation: float) -> Result:
        facts = self.facts
        claude = self.case.provider == "anthropic"
        lives = (300.0, 3_600.0) if claude else (1_800.0, 1_800.0) if self.marked else (300.0, 300.0)
        pins: dict[str, int] = {}
        for row in self.rows:
            if row.pinned:
                pins[row.pinned] = pins.get(row.pinned, 0) + 1
        return Result(
            self.case,
            tuple(self.rows),
            self.saga_bill,
            self.others,
            ideal_cost(self.wishes, self.rates, facts.cache_minimum, lives=lives, replies=claude or not self.marked),
            sum(row.output for row in self.rows),
            sum(row.visible for row in self.rows),
            pins,
            extraction,
            curation,
            facts.input or 0.0,
            facts.output or 0.0,
        )


def _size(text: str) -> int:
    return _TOKENIZER.count(text) + 4


def pieces(plan: PromptPlan) -> list[Piece]:
    """The content blocks of a plan, as a provider receives them."""
    found: list[Piece] = []
    for block in plan.blocks:
        text = flatten(block.content)
        text = f"{block.lead}\n\n{text}" if block.lead else text
        found.append(Piece(f"{block.role}\n{text}", _size(text), block.breakpoint, block.role == "assistant"))
    return found
