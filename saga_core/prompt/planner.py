"""The planner: sets the cache breakpoints of a plan, based on the prompts that were sent before.

There is one ``SessionPrompts`` per session. Its data can be stored and loaded again. If the data is lost, the first
request is still marked at its end, from where the provider looks back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from attrs import define, evolve, field, frozen

from saga_core.messages import FIXED, Block, CacheLifetime, Origin, PromptPlan, Stability
from saga_core.prompt.breakpoints import place_breakpoints
from saga_core.prompt.cache_book import CacheBook, Outlook
from saga_core.prompt.measure import Measured, common_prefix, measure
from saga_core.upstream import ModelFacts

_BOOKS = 4
"""Models per session whose cache books are kept."""
_REQUESTS = 8
_MOMENTS = 48
_LABEL = 60
_TOLD = 16
"""System blocks whose texts are kept until the next request."""


@frozen
class Request:
    """A prompt that was sent, kept for comparison with the next one."""

    at: float
    chain: tuple[int, ...]
    """As in ``Measured``."""
    total: int
    """Tokens of the whole prompt, as counted here."""
    labels: Mapping[int, str]
    """Short descriptions of the system blocks, by position."""
    end: int
    """The last position that the next request was expected to repeat."""
    turn: str = ""
    outlook: Outlook = field(factory=Outlook)


@frozen
class Planned:
    """A plan with its breakpoints and its expected cache use."""

    plan: PromptPlan
    request: Request
    before: Request | None = None
    """The earlier request with the longest common prefix."""
    reason: str = ""
    """Why new pages were pinned for this prompt; empty if none were."""
    pin: str = ""
    """The turn whose pages are in the prefix."""
    language: str = ""
    """The language of these pages."""
    added: int = 0
    """Tokens of the prompt that SAGA added."""
    texts: Mapping[int, str] = field(factory=dict, repr=False)
    """The texts of the system blocks of ``before``, if available."""

    @property
    def shared(self) -> int:
        """The number of leading blocks that are equal to those of the request before."""
        return common_prefix(self.request.chain, self.before.chain) if self.before else 0

    @property
    def diverged(self) -> str:
        """A description of the first block that differs from the request before although it should be repeated; empty
        if there is none."""
        if self.before is None:
            return ""
        shared = self.shared
        if shared > self.before.end or shared >= len(self.plan.blocks):
            return ""
        block, old = self.plan.blocks[shared], self.texts.get(shared)
        if old is not None and isinstance(block.content, str) and block.is_system:
            at = next((at for at, pair in enumerate(zip(old, block.content, strict=False)) if pair[0] != pair[1]), -1)
            at = at if at >= 0 else min(len(old), len(block.content))
            return f"block {shared} was {_label(block, old, at)}, is {_label(block, block.content, at)}"
        was = self.before.labels.get(shared, "another message")
        return f"block {shared} was {was}, is {_label(block)}"


@define
class SessionPrompts:
    """The planner's data about one session's prompts."""

    moments: list[float] = field(factory=list)
    """The times of the session's requests, in order."""
    books: OrderedDict[tuple[str, str], CacheBook] = field(factory=OrderedDict)
    """Cache books by (provider, model), the most recently used last."""
    requests: list[Request] = field(factory=list)
    """The last requests, oldest first."""
    texts: dict[int, str] = field(factory=dict)
    """The system blocks of the last request, for describing changes. Never stored."""

    def book(self, facts: ModelFacts, model: str) -> CacheBook:
        """Return the cache book of a model."""
        key = (facts.provider, model)
        found = self.books.setdefault(key, CacheBook())
        self.books.move_to_end(key)
        while len(self.books) > _BOOKS:
            self.books.popitem(last=False)
        return found

    def record_request(self, now: float) -> None:
        """Record that a request came at ``now``."""
        self.moments.append(now)
        del self.moments[:-_MOMENTS]

    def warm(self, plan: PromptPlan, facts: ModelFacts, model: str, count: Callable[[str], int]) -> bool:
        """Whether some of the plan's history could be read from the cache now."""
        measured = measure(plan.blocks, count)
        living = self.book(facts, model).living(measured.chain, self.moments[-1])
        return any(plan.blocks[at].stability is Stability.HISTORY for at in living)

    def mark(
        self,
        plan: PromptPlan,
        facts: ModelFacts,
        model: str,
        count: Callable[[str], int],
        *,
        scale: float = 1.0,
        turn: str = "",
        reading: bool = False,
    ) -> Planned:
        """Return ``plan`` with breakpoints for a request that is sent now. Call ``record_request`` first.

        With ``reading``, only a prefix that can be read is marked, for side requests that nothing follows.
        """
        now = self.moments[-1]
        measured = measure(plan.blocks, count)
        book = self.book(facts, model)
        end = self._end(plan.blocks, measured)
        marks: dict[int, CacheLifetime] = {}
        if reading:
            living = book.living(measured.chain[: end + 1], now) if facts.cache == "explicit" else []
            entry = book.alive(measured.chain[living[-1]], now) if living else None
            if entry is not None:
                marks[living[-1]] = entry.ttl
        else:
            marks = place_breakpoints(
                measured,
                facts,
                book,
                self.moments,
                end=end,
                fixed=max((at for at, block in enumerate(plan.blocks) if block.origin in FIXED), default=-1),
                scale=scale,
                landmarks=_landmarks(measured, plan.blocks),
                carries=lambda at: bool(plan.blocks[at].content) and facts.can_mark(plan.blocks[at].role),
            )
        last = self.requests[-1] if self.requests else None
        before = max(self.requests, key=lambda each: common_prefix(each.chain, measured.chain), default=None)
        outlook = book.send(measured, marks, facts, now)
        labels = {at: _label(block) for at, block in enumerate(plan.blocks) if block.is_system}
        texts, self.texts = self.texts, self.texts if reading else _texts(plan.blocks)
        request = Request(now, measured.chain, measured.total, labels, end, turn, outlook)
        if not reading:
            self.requests.append(request)
            del self.requests[:-_REQUESTS]
        if reading:
            return Planned(_marked(plan, marks), request)
        older = texts if before is not None and before is last else {}
        return Planned(_marked(plan, marks), request, before, texts=older)

    def _end(self, blocks: Sequence[Block], measured: Measured) -> int:
        """Return the last position that the next request should repeat: the one before volatile blocks and before any
        new system message within the history.
        """
        talking = False
        for at, block in enumerate(blocks):
            if block.stability is Stability.VOLATILE:
                return at - 1
            if not block.is_system:
                talking = True
            elif talking and not self._stood(at, measured.chain[at]):
                return at - 1
        return len(blocks) - 1

    def _stood(self, at: int, link: int) -> bool:
        return any(len(each.chain) > at and each.chain[at] == link for each in self.requests)


def _marked(plan: PromptPlan, marks: Mapping[int, CacheLifetime]) -> PromptPlan:
    if not marks:
        return plan
    blocks = list(plan.blocks)
    for at, ttl in marks.items():
        blocks[at] = evolve(blocks[at], breakpoint=ttl)
    return PromptPlan(tuple(blocks))


def _label(block: Block, content: str | None = None, at: int = 0) -> str:
    """Return a short description of a block. With ``content``, it shows the line with the character ``at``."""
    if content is None:
        content = block.content if isinstance(block.content, str) else f"{len(block.content)} parts"
    start = content.rfind("\n", 0, at) + 1
    text = " ".join(content[start : start + _LABEL * 2].split())
    text = text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
    if not text:
        return f"{block.role} without more than {start} characters"
    where = f" from line {content.count(chr(10), 0, start) + 1} on" if start else ""
    return f"{block.role}{where} {text!r}"


def _texts(blocks: Sequence[Block]) -> dict[int, str]:
    found = ((at, block.content) for at, block in enumerate(blocks) if block.is_system)
    return {at: content for at, content in list(found)[:_TOLD] if isinstance(content, str)}


def _landmarks(measured: Measured, blocks: Sequence[Block]) -> list[int]:
    """Return the positions of the end of the client's own system prompt and of its largest block."""
    own = [at for at, block in enumerate(blocks) if block.origin is Origin.CLIENT]
    if not own:
        return []
    sizes = {at: measured.tokens[at] - (measured.tokens[at - 1] if at else 0) for at in own}
    return [own[-1], max(own, key=lambda at: sizes[at])]
