"""The offline narrator: a stand-in for a model, which plays a script. It is for trying SAGA out, and for tests.

The script, ``offline.yaml``, is a list of cues in each language. A cue applies if its pattern is found in the player's
words and SAGA's context has every name that its reply needs: who is addressed, where a way leads, what is carried. So
the stand-in shows what SAGA tells a narrator, and knows nothing else. Its state block reports what its reply tells.

The same request gives the same reply, except that a repeated request is a swipe: a counter for each dialogue, kept in
this process, then chooses the next variant. A memory that kept replies that were swiped away would be visibly wrong.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from functools import cache
from hashlib import blake2b
from importlib import resources
from string import Formatter
from typing import Any

import yaml
from attrs import define, field, frozen
from cachetools import LRUCache

from saga_core.errors import UpstreamError
from saga_core.language import content_words, detect, every, language_of, looked_through, mentions, telling_nothing
from saga_core.messages import PromptPlan, flatten
from saga_core.ports import ChatPart, ChatRequest, FinishPart, TextPart, Usage, UsagePart
from saga_core.registry import Backend, OpenOptions

MODEL = "saga-offline"
_INSTRUCTION = re.compile(r"(?:`{3}|~{3})[ \t]{0,8}(?:state|상태)\b", re.IGNORECASE)
_PARTS = re.compile(r"[\s・·]+")
_COUNT = re.compile(r" ×\d+$")
_QUOTE = re.compile(r"[\"“「]([^\"“”「」]+)[\"”」]")
_HEARD, _SHOWN = 2_000, 220
"""How many characters of the player's words are read, and how many of a lore entry are told."""
_REMEMBERED = 4_096
_MOST_CHOICES = 16
_PIECE = 7
"""The number of characters in a streamed piece. It is small, so that code fences arrive in pieces."""


@frozen
class Cue:
    """A pattern in the player's words, and what follows: a text for each variant, and the lines of the block."""

    pattern: re.Pattern[str]
    say: tuple[str, ...]
    block: Mapping[str, Any]

    def reply(self, words: str, values: Mapping[str, str], variant: int) -> tuple[str, str] | None:
        """Return the prose and the block, or None if the cue does not apply.

        A text is sentences with ``|`` between them. A sentence that lacks a value is left out; the first one may not.
        """
        found = self.pattern.search(words.casefold())
        if found is None:
            return None
        # The words keep the replies of a chat apart: two turns with one reply are hard to tell from one.
        known = {**values, "words": " ".join(words.split())[:60] or "…", **found.groupdict("")}
        first, *others = [_filled(each, known) for each in self.say[variant % len(self.say)].split("|")]
        if not first:
            return None
        lines = []
        for name, value in self.block.items():
            line = _filled(str(value[variant % len(value)] if isinstance(value, list) else value), known)
            lines += [f"{name}: {line}"] if line else []
        return " ".join([first, *filter(None, others)]), "\n".join(["```state", *(lines or ["hp_change: 0"]), "```"])


@define
class OfflineNarrator:
    """A ``ChatModel``."""

    name: str = "offline"
    _asked: LRUCache[bytes, int] = field(factory=lambda: LRUCache(_REMEMBERED), init=False)

    async def models(self) -> list[str]:
        """Return the only model."""
        return [MODEL]

    async def aclose(self) -> None:
        """Do nothing, because there are no resources to release."""

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """Yield the reply in parts, alternating between choices. Raises ``UpstreamError`` (400) for a bad ``n``."""
        choices = request.params.get("n") or 1
        if type(choices) is not int or not 1 <= choices <= _MOST_CHOICES:
            why = f"n: {choices!r} is not allowed; give a whole number, 1 to {_MOST_CHOICES}"
            raise UpstreamError(why, status=400, kind="invalid_request_error")
        replies = self._replies(request.plan, choices)
        size = _PIECE if streaming else max(map(len, replies))
        for start in range(0, max(map(len, replies)), size):
            for index, text in enumerate(replies):
                if piece := text[start : start + size]:
                    yield TextPart(piece, index)
            await asyncio.sleep(0)
        for index in range(choices):
            yield FinishPart("stop", index)
        yield UsagePart(Usage(estimate(request.plan.text()), sum(map(estimate, replies))))

    def _replies(self, plan: PromptPlan, choices: int) -> list[str]:
        told = [
            (block.role, looked_through("\n\n".join(filter(None, (block.lead, flatten(block.content))))))
            for block in plan.blocks
        ]
        chat = [(role, _without_context(text)) for role, text in told if role in ("user", "assistant")]
        wants_block = any(role != "assistant" and _INSTRUCTION.search(text) for role, text in told)
        speaks = bool(chat) and chat[-1][0] == "user"
        words = chat[-1][1][:_HEARD] if speaks else ""
        if not words and not wants_block:  # a side request, for example for a summary
            return [(chat[-1][1] if chat else "…")[:_HEARD]] * choices
        script = _script()
        language = detect(words or (chat[-1][1][:_HEARD] if chat else ""))
        cues = script.get(language) or script["en"]
        values = _values("\n".join(text for _, text in told), words)
        digest = blake2b(repr(chat).encode(errors="replace"), digest_size=16).digest()
        first = self._asked.get(digest, 0)
        self._asked[digest] = first + choices
        found = []
        for variant in range(first, first + choices):
            pairs = (cue.reply(words, values, variant) for cue in cues)
            prose, block = next(pair for pair in pairs if pair is not None)
            found.append(f"{prose}\n\n{block}" if wants_block else prose)
        return found


@cache
def _script() -> dict[str, list[Cue]]:
    """Return the cues of each language. The last one always applies."""
    text = resources.files(__package__).joinpath("offline.yaml").read_text(encoding="utf-8")
    return {
        language: [
            Cue(
                re.compile(cue.get("cue", "")),
                tuple([say] if isinstance(say := cue["say"], str) else say),
                cue.get("block", {}),
            )
            for cue in cues
        ]
        for language, cues in yaml.safe_load(text).items()
    }


def _values(told: str, words: str) -> dict[str, str]:
    """Return what SAGA's context in ``told`` says, and whom and what in it the player's ``words`` name."""
    labels = next((each.labels for each in every() if each.labels.opening in told), language_of("en").labels)
    block = told.rpartition(labels.opening)[2].partition(labels.closing)[0] if labels.opening in told else ""
    fields = dict(part.split(": ", 1) for line in block.splitlines() for part in line.split(" | ") if ": " in part)
    lore = dict(line[2:].split(": ", 1) for line in block.splitlines() if line.startswith("- ") and ": " in line)

    def names(label: str) -> list[str]:
        listed = fields.get(label, "")
        return [name.strip() for name in listed.split(", ")] if listed and listed != labels.nothing else []

    dead = [name.partition(" (")[0] for name in names(labels.dead)]
    dead += [name for line in re.findall(rf"\*\*{re.escape(labels.dead)}:\*\* (.+)", told) for name in line.split(", ")]
    carried = [_COUNT.sub("", item) for item in names(labels.inventory)]
    present, nearby, ways = names(labels.present), names(labels.nearby), names(labels.ways)
    alive = [name for name in (*present, *nearby) if name not in dead]
    here, asked = fields.get(labels.place, ""), _content(words)
    quoting = [line for line in block.splitlines() if _QUOTE.search(line) and asked & _content(line)]
    memory = max(quoting, key=lambda line: len(asked & _content(line)), default="")
    return {
        "here": here,
        "scenery": _shortened(lore.get(here, "")),
        "hp": fields.get(labels.hp, ""),
        "items": ", ".join(names(labels.inventory)),
        "present": ", ".join(present),
        "nearby": ", ".join(nearby),
        "ways": ", ".join(ways),
        "who": _named(words, alive),
        "companion": _named(words, present),
        "fallen": _named(words, dead),
        "to": _named(words, (name for name in (*ways, *lore) if name != here)),
        "item": _named(words, carried),
        "thing": _named(words, (*lore, *carried)),
        "topic": _shortened(lore.get(_named(words, lore), "")),
        "memory": _QUOTE.findall(memory)[-1].strip() if memory else "",
    }


def _named(words: str, names: Iterable[str]) -> str:
    """Return the one of ``names`` of which ``words`` mention most, or an empty text if they mention none."""
    shares = dict[str, float]()
    for name in names:
        parts = [part for part in _PARTS.split(name) if part.casefold() not in telling_nothing()]
        shares[name] = sum(mentions(words, part) for part in parts) / max(1, len(parts))
    best = max(shares, key=lambda name: shares[name], default="")
    return best if best and shares[best] else ""


def _content(text: str) -> set[str]:
    return set(content_words(text)) - telling_nothing()


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Return ``text`` with its values, or an empty text if one is missing."""
    needed = [name for _, name, _, _ in Formatter().parse(text) if name]
    return text.format_map(values).strip() if all(values.get(name) for name in needed) else ""


def _without_context(text: str) -> str:
    for each in every():
        before, sign, rest = text.partition(each.labels.opening)
        text = before + rest.partition(each.labels.closing)[2] if sign else text
    return text.strip()


def _shortened(text: str) -> str:
    """Return the first sentences of a text."""
    cut = text[:_SHOWN]
    return (
        text if len(text) <= _SHOWN else cut[: max(cut.rfind(mark) for mark in ".!?。！？") + 1] or f"{cut.rstrip()}…"
    )


def estimate(text: str) -> int:
    """Return a rough token count, with one token for four ASCII characters or for one other character."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


async def _open(options: OpenOptions) -> OfflineNarrator:
    options.take()
    return OfflineNarrator()


BACKEND = Backend(
    kind="chat",
    name="offline",
    open=_open,
    summary="A stand-in that plays a script in English, Korean, Japanese and Chinese: no key, no network, no model",
)
