"""A turn between the reading of its request and its recording: it takes the narrator's replies, and shows what the
player may see of them.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import Factory, define, evolve, field

from saga_core import extraction
from saga_core.arguments import check_argument
from saga_core.billing import Bill
from saga_core.context import TurnContext
from saga_core.errors import BadInput
from saga_core.language import nfc
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.model import Session, Turn, TurnKind
from saga_core.ports import Usage
from saga_core.prompt import Planned
from saga_core.state_block import (
    BehindThoughts,
    BlockFilter,
    BlockStatus,
    Hidden,
    RawBlock,
    StateReading,
    read_ended,
    without_thoughts,
)
from saga_core.tool_calls import OwnCalls
from saga_core.trackers import NO_TRACKERS, Trackers

if TYPE_CHECKING:
    from saga_core.tool_calls import GatheredCall

# -- markers ---------------------------------------------------------------------------------------------------
#
# Markers by which a message names a session, a world or the player, ``[[saga:session=NAME]]``, or declares a tracker.
#
# Only the client's own words are searched for them, when a request arrives. Here they are removed from replies: a model
# must not set them, and the client sends its reply back in the next request's history.

_KINDS = "session|world|player|chat|member|continue|tracker|profile|kind"
MARKER = re.compile(rf"\[\[saga:({_KINDS})=([^\[\]\n]*)\]\]", re.IGNORECASE | re.ASCII)
"""Its groups are the kind and the name. No other letter counts as an s (U+017F) or a k (U+212A)."""

_BEGINS = "[[saga:"
_OPENING = re.compile(r"(?<!\[)\[+(?=\[saga:)", re.IGNORECASE | re.ASCII)
_MOST_HELD = 2_000
"""Most characters that are held back while a marker, or markers inside each other, may be coming."""
_NESTED = 8
"""How many markers inside each other are removed one by one."""


def without_markers(text: str, once: Callable[[str], str] | None = None) -> str:
    """Remove markers until none is left, since two halves of one may stand around another.

    ``once`` removes those that are seen now.
    """
    for _ in range(_NESTED):
        text = once(text) if once is not None else MARKER.sub("", text)
        if "[[" not in text or MARKER.search(text) is None:
            return text
    return _OPENING.sub("", text)


@define
class MarkerFilter:
    """Removes markers from a streamed text. A possible beginning of a marker is held back."""

    gap: str = ""
    """What stands in the place of a marker."""
    held: str = ""

    def feed(self, text: str) -> str:
        """Take a piece of text, and return the text that can be shown now."""
        if not self.held and "[" not in text:
            return text
        whole = without_markers(self.held + text, lambda text: MARKER.sub(self.gap, text))
        at = _open(whole)
        if len(whole) - at > _MOST_HELD:
            whole = _OPENING.sub("", whole)
            at = _open(whole)
        self.held = whole[at:]
        return whole[:at]

    def finish(self) -> str:
        """End the text, and return what was held back, as it is no marker."""
        held, self.held = self.held, ""
        return held


def _open(text: str) -> int:
    """The index at which an unfinished marker may begin; the length of the text if there is none."""
    at, bare = len(text), 0
    while bare < 2 * _NESTED:  # brackets alone are held back for as many markers as are removed one by one
        begin = text.rfind("[[", 0, at)
        if begin >= 0 and _may_become(text[begin:at]):
            bare += at - begin == len("[[")
            at = begin  # it may vanish, and what stands before it go on behind it
        elif text.endswith("[", 0, at):
            at, bare = at - 1, bare + 1
        else:
            break
    return at


def _may_become(tail: str) -> bool:
    if "\n" in tail:
        return False
    begun = tail[: len(_BEGINS)].lower()
    if not _BEGINS.startswith(begun):
        return False
    return "]" not in tail[:-1]


# -- the client's own limits -----------------------------------------------------------------------------------

_SETTLED = 200
_LONGEST = 400
"""Characters that are counted together: up to the first whitespace after ``_SETTLED``, and at most ``_LONGEST``."""


@define(eq=False)
class VisibleText:
    """Passes visible text up to the client's limits. The result does not depend on the pieces in which it arrives.

    ``limit`` is in tokens, as ``count`` counts them; 0 for no limit. ``stops`` are sequences that end the text and are
    not part of it. Only text that may be the beginning of such a sequence is held back.
    """

    limit: int = 0
    count: Callable[[str], int] = len
    stops: tuple[str, ...] = ()
    ended: str = ""
    """Why the text ended here, as OpenAI's finish reason: ``length`` or ``stop``; empty as long as it has not."""
    _held: str = field(default="", init=False)
    _counted: int = field(default=0, init=False)
    _part: str = field(default="", init=False)
    """The text that was shown and is not yet in ``_counted``."""

    def feed(self, text: str) -> str:
        """Take a piece of text, and return the text that can be shown now."""
        if self.ended:
            return ""
        if not self.stops:
            return self._within_limit(text)
        text, self._held = self._held + text, ""
        found = [(at + len(stop), at) for stop in self.stops if (at := text.find(stop)) >= 0]
        if found:
            shown = self._within_limit(text[: min(found)[1]])
            self._end("stop")
            return shown
        keep = max((self._begun(text, stop) for stop in self.stops), default=0)
        if keep:
            text, self._held = text[:-keep], text[-keep:]
        return self._within_limit(text)

    def finish(self) -> str:
        """End the text, and return what was held back."""
        text, self._held = self._held, ""
        return "" if self.ended else self._within_limit(text)

    def _end(self, why: str) -> None:
        """End the text here. The first reason counts."""
        self.ended = self.ended or why

    @staticmethod
    def _begun(text: str, stop: str) -> int:
        """How many characters at the end of ``text`` may be the beginning of ``stop``."""
        most = min(len(stop) - 1, len(text))
        return next((length for length in range(most, 0, -1) if text.endswith(stop[:length])), 0)

    def _within_limit(self, text: str) -> str:
        if not self.limit:
            return text
        shown: list[str] = []
        while text and not self.ended:
            piece, text = self._piece(text)
            part = self._part + piece
            if self._counted + self.count(part) > self.limit:
                shown.append(self._fitting(part)[len(self._part) :])
                self._end("length")
                break
            shown.append(piece)
            self._part = part
            if len(part) >= _LONGEST or (len(part) > _SETTLED and part[-1].isspace()):
                self._counted += self.count(part)
                self._part = ""
        return "".join(shown)

    def _piece(self, text: str) -> tuple[str, str]:
        """Split ``text`` into the piece that is counted together with ``_part``, and the rest."""
        most = _LONGEST - len(self._part)
        first = max(0, _SETTLED - len(self._part))
        end = next((at + 1 for at in range(first, min(len(text), most)) if text[at].isspace()), most)
        return text[:end], text[end:]

    def _fitting(self, part: str) -> str:
        """The longest beginning of ``part`` within the limit. It includes the text that was shown already."""
        low, high = len(self._part), len(part)
        while low < high:
            middle = (low + high + 1) // 2
            if self._counted + self.count(part[:middle]) <= self.limit:
                low = middle
            else:
                high = middle - 1
        return part[:low]


# -- the turn --------------------------------------------------------------------------------------------------

_LIMITS = ("max_completion_tokens", "max_tokens", "max_new_tokens", "n_predict", "num_predict", "max_length")
"""Names that servers use for the limit of a reply. Frontends for text completion send several of them at once."""
_STOP_FIELDS = ("stop", "stopping_strings", "stop_sequence")
"""Names that servers use for the stop sequences."""
_SHORT = 2_000
"""A limit of fewer tokens than this may be reached by the prose of a reply."""
ROUNDS = 3
"""How often SAGA answers a narrator's calls of ``own_tools`` in one turn."""
LONGEST_BEFORE_CALL = 200_000
"""Behind more characters than these, no call is answered: the limits of a reply hold for each round."""
_CALLED = ("tool_calls", "function_call")
_ENDS = frozenset(".!?…。！？~*)\"'”’»」』）")
"""Characters with which a paragraph ends. Behind others, a reply goes on in the same line."""
_STOPS = "stop: {} would cut every state block off; SAGA ends the visible text there itself, and the model goes on"
_FED = "feed texts (str); bytes are decoded first, and a piece of a stream without a text is left out"
_NOTED = '{"noted": true}'
"""The answer to a report that comes beside other calls."""
_TOO_SHORT = "the reply ended at its length limit, and the block stands last: allow longer replies (max_tokens)"


@define(eq=False)
class Reply:
    """One choice: takes the model's text, returns the player's text, and keeps both."""

    turn_id: str
    finish_reason: str = "stop"
    _raw: list[str] = field(factory=list)
    _shown: list[str] = field(factory=list)
    counted: Trackers = NO_TRACKERS
    """The story's trackers."""
    _filter: BlockFilter = field(default=Factory(lambda self: BlockFilter(self.counted), takes_self=True))
    _given: MarkerFilter = field(factory=MarkerFilter)
    """Removes markers from what the model writes, before anything else is looked for in it."""
    _markers: MarkerFilter = field(factory=lambda: MarkerFilter("\n"))
    """Removes markers whose halves stood around something that was hidden."""
    _finished: bool = False
    told: bool = False
    """Whether the model wrote anything that is not hidden, also if the client's limits or its markers took it."""
    _ended: str | None = None
    """What the filters still held when the reply ended; None before that."""
    limits: VisibleText = field(factory=VisibleText)
    """The client's limits on what is shown."""
    calls: list[str] = field(factory=list)
    """The ids of the tool calls in it. A reply with calls is an intermediate step, not a turn."""
    own: OwnCalls | None = None
    """The calls of SAGA's own tools in it; None if the narrator is offered none."""
    unrepeated: BehindThoughts | None = None
    """Removes what a continuation repeats of the reply before it; None once it has."""
    is_over: bool = False
    """Whether the turn was recorded or abandoned, so that nothing can be fed any more."""
    _earlier: tuple[RawBlock, ...] = ()
    """The blocks of earlier rounds, and of a reply that told no story and was asked for again."""
    _said: list[str] = field(factory=list)
    """What the model wrote in the current round, without what is hidden; only if it is offered tools of SAGA's."""
    _carried: str = ""
    """Text of an earlier round that can be shown with what comes next."""
    _resumes: bool = False
    """Whether nothing of a further round has been shown yet."""

    @property
    def ended_by(self) -> str:
        """Why the text ended for the player: the client's limits, or else the model's own finish reason."""
        return self.limits.ended or self.finish_reason

    def feed(self, text: str) -> str:
        """Take a piece of the model's reply, and return the text that can be shown now. ``BadInput`` for no text."""
        if type(text) is not str:  # this is called for every piece
            check_argument("feed", text, remedy=_FED)
        if self.is_over:
            raise BadInput("feed: the turn is recorded or abandoned already; feed the whole reply before commit")
        self._raw.append(text)
        if self.unrepeated is not None:
            text = self.unrepeated.feed(text)
            self.unrepeated = None if self.unrepeated.over else self.unrepeated
        if "[" in text or self._given.held:
            text = self._given.feed(text)
        shown = self._filter.feed(text) if text else ""
        if not self.told or self.own is not None:
            self._note(shown)
        if self._resumes:
            shown = self._resumed(shown)
        if not shown:
            return ""
        if "[" in shown or self._markers.held:
            shown = self._markers.feed(shown)
        limits = self.limits
        if limits.limit or limits.stops:
            shown = limits.feed(shown)
        if shown:
            self._shown.append(shown)
        return self._with_carried(shown) if self._carried else shown

    def _note(self, shown: str) -> None:
        """Note what the filter of blocks let through."""
        self.told |= bool(shown) and not shown.isspace()
        if self.own is not None and shown:
            self._said.append(shown)

    def extra(self, fields: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Take other fields of a delta, such as tool calls. Returns the text that was held back until then, and the
        fields for the client: those without SAGA's own call."""
        others = fields if self.own is None else self.own.take(fields)
        shown = "".join(self._call(number) for number in _call_ids(others))
        return shown, others

    def end(self, reason: str) -> None:
        """Note why the model ended. If it called no tool but SAGA's own, it ended by itself. ``BadInput``."""
        check_argument("reason", reason, remedy="give a finish reason such as stop or length")
        self.finish_reason = "stop" if reason in _CALLED and self.own and not self.calls else reason

    def _call(self, number: str) -> str:
        """Note a tool call, or a further piece of one. Returns the text that was held back and is no part of a block.

        ``number`` is the call's id; empty if the provider gives none, or for a further piece of a call.
        """
        if number or not self.calls:
            self.calls.append(number)
        return self._with_carried(self._flush())

    def _flush(self, answered: bool = False) -> str:
        """End what hides parts of the text, for what follows to begin anew. Returns the text that was held back.

        A marker may go on behind a call, so what may become one is still held back. Behind one that is ``answered`` in
        the same reply, so may a block or an echo.
        """
        shown = self._last(goes_on=True)
        further = BlockFilter(self.counted)
        if answered:
            rest, further = self._filter.next_part()
        else:
            rest = self._filter.finish()
        shown += rest
        self._note(shown)
        if self._resumes:
            shown = self._resumed(shown)
        shown = self.limits.feed(self._markers.feed(shown))
        self._filter = further
        self._shown.append(shown)
        return shown

    def go_on(self) -> tuple[str, Mapping[str, Any]]:
        """Begin another round, because SAGA answers calls of its own tools. What was shown remains part of the reply.

        Returns the text that the model wrote in this round, and the other fields of its message. What was held back is
        shown with the next text.
        """
        assert self.own is not None
        blocks = self._filter
        self._carried += self._flush(answered=True)
        said = "".join(self._said).strip()
        self._said.clear()
        self._earlier += blocks.raw_blocks
        self._raw.append("\n\n")
        self._resumes = bool(self.text.strip())
        return said, self.own.go_on()

    def _resumed(self, shown: str) -> str:
        """Put what separates the text of two rounds in front of the first text of the second one."""
        shown = shown.lstrip()
        if not shown:
            return ""
        self._resumes = False
        before = self.text
        ended = before.rstrip()[-1:] in _ENDS
        gap = "\n\n" if ended else " "
        return shown if before.endswith("\n\n" if ended else ("\n", " ")) else f"{gap}{shown}"

    def _with_carried(self, shown: str) -> str:
        shown, self._carried = self._carried + shown, ""
        return shown

    def start_over(self) -> bool:
        """Start over if the reply ended with a report or an echo of the context, and nothing for the player to read.

        Returns whether it did. What is fed then is a new reply, whose report, if it has one, takes the place of this.
        """
        if (
            self.calls
            or self._finished
            or self.finish_reason not in ("stop", "length")
            or not (self.raw.strip() or self.own)
        ):
            return False
        # What the filters let through is known. The whole reply is not searched again: it may have millions of blocks.
        if self.told or self.unrepeated is not None or self._rest().strip():
            return False
        self._ended = None
        self._earlier += self._filter.raw_blocks
        self._filter, self._markers = BlockFilter(self.counted), MarkerFilter("\n")
        self._shown.clear()
        self._raw.append("\n\n")
        return True

    def finish(self) -> str:
        """End the reply. Returns the text that was held back and is no part of a block; nothing at a second call."""
        if self._finished:
            return ""
        self._finished = True
        shown = self._rest()
        if self._resumes:
            shown = self._resumed(shown)
        if "[" in shown or self._markers.held:
            shown = self._markers.feed(shown) + self._markers.finish()
        if self.limits.limit or self.limits.stops:
            shown = self.limits.feed(shown) + self.limits.finish()
        if shown:
            self._shown.append(shown)
        return self._with_carried(shown)

    def _rest(self) -> str:
        """End what filters the model's text, and return what it held back; the same at a second call."""
        if self._ended is None:
            self._ended = self._last() + self._filter.finish()
            self._note(self._ended)
        return self._ended

    def _last(self, goes_on: bool = False) -> str:
        """Give the last of the model's text to the filter of blocks, and return what can be shown of it."""
        text = "" if self.unrepeated is None else self.unrepeated.finish()
        rest = self._given.feed(text) + ("" if goes_on else self._given.finish())
        return self._filter.feed(rest) if rest else ""

    @property
    def text(self) -> str:
        """The text that was shown so far."""
        return "".join(self._shown)

    @property
    def story_text(self) -> str:
        """The part of the shown text that belongs to the story, as the journal records it."""
        return nfc(without_thoughts(self.text))

    @property
    def raw(self) -> str:
        """The model's text so far, state blocks included."""
        return "".join(self._raw)

    def reading(self, finish: str, counted: Trackers = NO_TRACKERS, people: Iterable[str] = ()) -> StateReading:
        """Read the state that the reply reports. ``finish`` says how it ended, ``counted`` are the story's trackers,
        and ``people`` the names of its characters."""
        blocks = self._filter.raw_blocks or self._earlier
        if not blocks and self.own is not None and (call := self.own.last(extraction.REPORT)) is not None:
            return extraction.read_call(call.arguments, self.text, counted)
        reading = read_ended(Hidden(self.text, blocks), whole=finish == "stop", own=counted, people=people)
        if finish == "length" and reading.status is not BlockStatus.OK:
            return evolve(reading, problems=(*reading.problems, _TOO_SHORT))
        return reading


_FINISHES = ("", "stop", "length", "aborted", "content_filter", "tool_calls", "function_call")
"""How a reply may end: as OpenAI's API says it, or because the player went away. Empty: as the model said."""

Recorder = Callable[["PendingTurn", str, str], Awaitable[tuple[Turn, ...]]]


@define(eq=False, repr=False, kw_only=True)
class PendingTurn:
    """The result of ``Saga.begin``: the prompt to send, and the methods that take the reply."""

    id: str
    """The id of the turn that the first choice becomes."""
    session: Session
    parent: Turn
    """The turn that this one continues; the session's root for the first."""
    plan: PromptPlan
    context: TurnContext
    kind: TurnKind
    replies: tuple[Reply, ...]
    timings: Mapping[str, float]
    """Milliseconds of each step of reading, and ``total``."""
    notices: tuple[str, ...]
    """What did not go as usual with this turn, in words."""
    degraded: Mapping[str, str] = field(factory=dict)
    """Degraded modes that affect all chats: name of the mode -> why. A reason may quote another chat, so it is meant
    for the operator of the server."""
    _record: Recorder
    planned: Planned | None = None
    """The expected use of the provider's cache; None if nothing is known of the cache."""
    usage: Usage | None = None
    """What the provider billed; set by ``billed``."""
    billed_model: tuple[str, str] = ("", "")
    """The model and the provider that were billed."""
    silent: int = 0
    """Consecutive replies before this one without a state block; 0 as long as they are few."""
    block_room: int = 0
    """Tokens that a state block may need in addition to the reply; 0 if none is asked for."""
    form: str = ""
    """The form of the state block that is asked for; empty if none is."""
    story_rules: str | None = None
    """The rules for a narrator that is asked for the story alone. None: a reply without a story is not asked again."""
    report_tool: Mapping[str, Any] | None = None
    """The tool by whose call the narrator reports, as OpenAI's chat API declares it; None if it is offered none."""
    own_tools: Sequence[Mapping[str, Any]] = ()
    """Tools whose calls the caller of ``Saga.begin`` answers itself, as OpenAI's chat API declares them."""
    rounds: int = 0
    """How often calls of ``own_tools`` were answered."""
    recall: Callable[[str, int], list[dict[str, Any]]] = lambda query, most: []
    """Returns at most so many turns of the path up to this one that match a query, without those that the next speaker
    does not know of."""
    asked_again: bool = False
    """Whether the narrator answered with a report alone, and was asked for the story again."""
    count: Callable[[str], int] = len
    """Counts tokens of visible text."""
    counted_by: str = ""
    """The name of that token counter."""
    failed: tuple[tuple[Usage, str, str], ...] = ()
    """Bills of calls that failed before another model was asked, with model and provider."""
    bill: Bill | None = None
    """The cost of the turn, once it was billed and recorded."""
    is_lost: bool = False
    """Whether recording has failed."""
    _turns: tuple[Turn, ...] | None = None
    _unrecorded: Callable[[PendingTurn], Awaitable[None]] | None = None
    _is_abandoned: bool = field(default=False, init=False)
    _narrow: Callable[[PendingTurn, int], Awaitable[None]] | None = None

    def billed(self, usage: Usage, *, model: str, provider: str) -> None:
        """Note what the provider bills. Must be called before the turn is recorded; the last call counts."""
        self.usage, self.billed_model = usage, (model, provider)

    def allowing(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the client's parameters for the model, adjusted so that they leave room for its report.

        ``block_room`` is added to a limit of less than 2,000 tokens. A higher limit has room for the block, and may be
        the model's own. The original limit applies to the visible text. A stop sequence that would cut off every block
        is left out, and ends the visible text instead; ``notices`` say so. Call this before the reply is read.
        """
        check_argument("params", params, Mapping, 'give your parameters for the model, such as {"max_tokens": 800}')
        short = [name for name in _LIMITS if type(params.get(name)) is int and 0 < params[name] < _SHORT]
        limit = min((params[name] for name in short), default=0) if self.block_room else 0
        stops = {name: _listed(params.get(name)) for name in _STOP_FIELDS}
        cutting = tuple(dict.fromkeys(stop for each in stops.values() for stop in each if self._cuts(stop)))
        for reply in self.replies if not self.rounds else ():
            reply.limits = VisibleText(limit, self.count, cutting)
        allowed = {**params, **{name: params[name] + self.block_room for name in short}, **self._tools(params)}
        if cutting:
            told = _STOPS.format(", ".join(map(repr, cutting)))
            self.notices = (*self.notices, told) if told not in self.notices else self.notices
            left = {name: [stop for stop in each if stop not in cutting] for name, each in stops.items() if each}
            allowed = {name: value for name, value in {**allowed, **left}.items() if left.get(name) != []}
        return allowed

    def _tools(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The tools of the client with those of SAGA, which may be called in the first rounds."""
        tools = [*(params.get("tools") or ()), *((self.report_tool,) if self.report_tool is not None else ())]
        if self.rounds < ROUNDS and not self.asked_again:
            tools += self.own_tools
        elif not tools and self.rounds:  # some providers want to know the tools whose calls a prompt shows
            return {"tools": list(self.own_tools), "tool_choice": "none"}
        return {"tools": tools} if tools else {}

    def own_calls(self) -> Sequence[GatheredCall]:
        """The calls of ``own_tools`` that the reply waits for, to be given to ``answer``.

        There are none if the reply is complete, is too long already, or if the client has to answer a call first.
        """
        reply = self.replies[0]
        if not self.own_tools or reply.own is None or reply.calls or self.rounds >= ROUNDS or self.asked_again:
            return ()
        if reply.finish_reason != "stop" or reply.limits.ended or len(reply.text) > LONGEST_BEFORE_CALL:
            return ()
        return [call for call in reply.own.calls if call.name != extraction.REPORT]

    def answer(self, answers: Iterable[str]) -> None:
        """Change ``plan`` so that the reply goes on with the answers to ``own_calls``, in the same order."""
        reply, given = self.replies[0], iter(answers)
        said, fields = reply.go_on()
        called = Block("assistant", said, Origin.TAIL, fields if said else {**fields, "content": None})
        results = [
            Block(
                "tool",
                _NOTED if call["function"]["name"] == extraction.REPORT else next(given),
                Origin.TAIL,
                {"tool_call_id": call["id"]},
            )
            for call in fields["tool_calls"]
        ]
        self.plan = PromptPlan((*self.plan.blocks, called, *results))
        self.rounds += 1

    def hide_calls(self, names: Iterable[str]) -> None:
        """Take calls of tools with these names out of the replies, whether or not the model was offered any."""
        hidden = frozenset(names)
        for reply in self.replies if hidden else ():
            reply.own = OwnCalls(hidden | (reply.own.names if reply.own is not None else frozenset()))

    def withhold_tools(self) -> bool:
        """Offer ``own_tools`` no longer, because the model calls none. Returns whether they were offered."""
        offered, self.own_tools = bool(self.own_tools), ()
        return offered

    @property
    def cut_short(self) -> str:
        """A notice that the visible text of a reply was ended at its limit; empty if none was."""
        found = next((reply.limits.limit for reply in self.replies if reply.limits.ended == "length"), 0)
        return f"max_tokens: the visible text ends at {found} tokens, counted by {self.counted_by}" if found else ""

    def _cuts(self, stop: Any) -> bool:
        """Whether a stop sequence occurs in every block, or right before it."""
        return bool(self.form) and isinstance(stop, str) and bool(stop) and stop in f"\n\n{self.form}\n"

    def ask_again(self) -> bool:
        """Change ``plan`` to ask for the story alone, if the whole reply was a report, or an echo of SAGA's own text.

        Returns whether the narrator must be asked again, which is so once. Small models that are asked for a block
        often write nothing else. The report counts if none comes with the story.
        """
        rules = self.story_rules
        if self.asked_again or rules is None or len(self.replies) != 1 or not self.replies[0].start_over():
            return False
        self.asked_again = True
        self.notices = (*self.notices, "the narrator wrote a report and no story; it was asked again for the story")
        self.plan = PromptPlan(
            tuple(evolve(block, content=rules) if block.origin is Origin.RULES else block for block in self.plan.blocks)
        )
        self.block_room, self.form, self.report_tool = 0, "", None
        return True

    async def narrow(self, window: int, *, sure: bool = False) -> bool:
        """Build the prompt again in at most ``window`` tokens, as SAGA counts them: with less of SAGA's own text, and
        without the oldest part of the history. Returns whether the prompt became shorter: its history, unless it is
        ``sure`` that the window is so small."""
        if self._narrow is None:
            return False
        before = self._size(whole=sure)
        await self._narrow(self, window)
        return self._size(whole=sure) < before

    def _size(self, *, whole: bool) -> int:
        """The tokens of the prompt: of the ``whole``, or of the history."""
        if whole:
            return self.count(self.plan.text())
        return sum(self.count(block.text) for block in self.plan.blocks if block.origin is Origin.HISTORY)

    def failing(self) -> None:
        """Note that the current call's reply is not the turn's. Its usage so far is kept separately."""
        if self.usage is not None:
            self.failed = (*self.failed, (self.usage, *self.billed_model))
            self.usage = None

    async def visible(self, stream: AsyncIterator[str]) -> AsyncIterator[str]:
        """Yield the first choice's reply as the player sees it: the model's text without state blocks.

        Raises ``BadInput`` for what is no asynchronous iterator of texts, and if that reply has a text already.
        """
        check_argument("stream", stream, AsyncIterable, "give an asynchronous generator that yields texts")
        reply = self.replies[0]
        if reply.text or reply._finished:
            raise BadInput("visible: this turn has a reply already; begin it again with Saga.begin for another one")
        async for text in stream:
            shown = reply.feed(text)
            if shown:
                yield shown
        rest = reply.finish()
        if rest:
            yield rest

    async def commit(self, *, finish: str = "", model: str = "") -> tuple[Turn, ...]:
        """Record a turn for each choice that has text. Durable when this returns. A second call changes nothing.

        ``finish`` replaces the choices' own finish reasons, such as ``aborted`` for a client that went away.
        Raises ``StoreError`` when the journal cannot be written, and ``BadInput`` for another finish reason, for what
        is no text, and after ``abandon``.
        """
        check_argument("finish", finish, remedy="give a finish reason such as length, or leave it out")
        if finish not in _FINISHES:
            raise BadInput(
                f"finish: {finish[:80]!r} is unknown; give one of {', '.join(_FINISHES[1:])}, or leave it out"
            )
        if self._is_abandoned:
            raise BadInput("commit: this turn was abandoned; begin it again with Saga.begin")
        check_argument("model", model, remedy="give the name of the model that replied, or leave it out")
        if self._turns is None:
            try:
                self._turns = await self._record(self, finish, model)
                self._end()
            except Exception:
                self.is_lost = True
                raise
        return self._turns

    async def abandon(self) -> None:
        """Give up the turn, and record nothing but its cost."""
        if self._turns is None:
            self._turns, self._is_abandoned = (), True
            self._end()
            if self._unrecorded is not None:
                await self._unrecorded(self)

    def _end(self) -> None:
        for reply in self.replies:
            reply.is_over = True


def _call_ids(fields: Mapping[str, Any]) -> list[str]:
    """The ids of the tool calls in a delta. The id is empty for a further piece of a call."""
    calls = fields.get("tool_calls")
    calls = calls if isinstance(calls, list) else []
    return [str(call.get("id") or "") for call in calls if isinstance(call, Mapping)]


def _listed(stops: Any) -> list[Any]:
    """Stop sequences as a list. A single text becomes a list of one."""
    return [stops] if isinstance(stops, str) else stops if isinstance(stops, list) else []


async def record_nothing(pending: PendingTurn, finish: str, model: str) -> tuple[Turn, ...]:
    """The recorder of turns that are played without memory."""
    return ()
