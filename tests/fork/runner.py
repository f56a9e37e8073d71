"""Run a memory through stories, and score it.

A memory has two methods, ``add(messages)`` and ``context(question)``. tests/fork/README.md explains how to plug one in.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from attrs import define, field, frozen

from tests.fork.language import language
from tests.fork.reader import OUTCOMES, RIGHT, Reading, read

_DRAWS = 1_000
Message = Mapping[str, Any]


class Refused(ValueError):
    """What was given is no memory, or no story."""


class Memory(Protocol):
    """A memory of one story.

    Two attributes are optional: ``calls``, the number of calls to a model so far, and a method ``close()``.
    """

    def add(self, messages: Sequence[Message]) -> None:
        """Take note of the chat. ``messages`` is the whole chat as the player sees it now, first the system prompt."""
        ...

    def context(self, question: str) -> str:
        """All that a narrator would be sent with ``question`` as the player's next words, without the question."""
        ...


Make = Callable[[Mapping[str, Any]], Memory]
"""Makes a memory for the story whose first record it is given."""
Count = Callable[[str], int]


@frozen
class Asked:
    """The outcome of one question."""

    story: str
    kind: str
    since: int
    by: tuple[str, ...]
    """The steps that took another answer back; none if no reply that is gone told one."""
    reading: Reading
    tokens: int
    seconds: float


@define
class Result:
    """The outcomes of a memory."""

    asked: list[Asked] = field(factory=list)
    turns: int = 0
    calls: int = 0
    adding: float = 0.0
    """Seconds spent in ``add``."""

    def extend(self, other: Result) -> None:
        """Add the outcomes of other stories."""
        self.asked += other.asked
        self.turns += other.turns
        self.calls += other.calls
        self.adding += other.adding


def tokens() -> tuple[Count, str]:
    """A counter of tokens, and its name: tiktoken's ``o200k_base``, or an estimate where its table cannot be had."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("o200k_base")
    except (ImportError, OSError) as error:  # requests' errors are OSErrors
        return estimate, f"an estimate of tokens, because tiktoken has no table here ({type(error).__name__})"
    return lambda text: len(encoding.encode_ordinary(text)), "tokens of o200k_base"


def estimate(text: str) -> int:
    """A third of the bytes, rounded up."""
    return -(-len(text.encode()) // 3)


def run(records: Iterable[Mapping[str, Any]], make: Make, count: Count) -> Result:
    """Play a story to a new memory, and ask it the story's questions."""
    result = Result()
    chat: list[Message] = []
    rows = iter(records)
    header = next(rows)
    if header.get("type") != "story" or header.get("format") != 1:
        raise Refused(f"the first record has to be a story of format 1, and is {str(header)[:80]}")
    system = {"id": "system", "role": "system", "content": header["system"]}
    spoken = language(header["language"])
    memory = make(header)
    lacking = [name for name in ("add", "context") if not callable(getattr(memory, name, None))]
    if lacking:
        raise Refused(f"{type(memory).__name__} has no method {lacking[0]}; a memory has add and context")
    try:
        for record in rows:
            if record["type"] == "step":
                chat[record["keep"] :] = record["add"]
                result.turns += record["op"] == "turn"
                began = time.perf_counter()
                memory.add([system, *chat])
                result.adding += time.perf_counter() - began
            else:
                began = time.perf_counter()
                context = memory.context(record["text"])
                seconds = time.perf_counter() - began
                if not isinstance(context, str):
                    raise Refused(f"{type(memory).__name__}.context gave a {type(context).__name__}; give a text")
                reading = read(record, context, spoken)
                by = tuple(record["by"])
                asked = (header["id"], record["kind"], record["since"], by, reading, count(context), seconds)
                result.asked.append(Asked(*asked))
        result.calls = getattr(memory, "calls", 0)
    finally:
        getattr(memory, "close", lambda: None)()
    return result


def share(asked: Sequence[Asked], holds: Callable[[Asked], bool]) -> tuple[float, float, float]:
    """A share in percent with its 95 % interval."""
    stories: dict[str, list[float]] = {}
    for each in asked:
        stories.setdefault(each.story, []).append(holds(each))
    return interval(list(stories.values()))


def interval(groups: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """The mean in percent with its 95 % interval, by a bootstrap that draws groups, and values in each."""
    dice = random.Random(1)
    drawn = []
    for _ in range(_DRAWS):
        values = [value for group in dice.choices(groups, k=len(groups)) for value in dice.choices(group, k=len(group))]
        drawn.append(100 * sum(values) / len(values))
    drawn.sort()
    whole = [value for group in groups for value in group]
    return 100 * sum(whole) / len(whole), drawn[int(0.025 * _DRAWS)], drawn[int(0.975 * _DRAWS) - 1]


def figures(result: Result) -> dict[str, Any]:
    """The figures of a memory, ready for JSON. Shares are in percent, with the two ends of their 95 % intervals."""
    asked = result.asked
    if not asked:
        raise Refused("there are no questions; a story has four after every five turns")
    found: dict[str, Any] = {
        "stories": len({each.story for each in asked}),
        "questions": len(asked),
        "found": share(asked, lambda each: each.reading.found),
        "leaked": share(asked, lambda each: each.reading.leaked),
    }
    for outcome in OUTCOMES:
        found[outcome] = share(asked, lambda each, outcome=outcome: each.reading.outcome == outcome)  # type: ignore[misc]
    kinds = sorted({each.kind for each in asked})
    found["kinds"] = {
        kind: share([each for each in asked if each.kind == kind], lambda each: each.reading.outcome == RIGHT)
        for kind in kinds
    }
    for name, group in _groups(asked).items():
        found[name] = share(group, lambda each: each.reading.outcome == RIGHT) if group else None
    swiped = _groups(asked)["swiped"]
    found["swiped_leaked"] = share(swiped, lambda each: each.reading.leaked) if swiped else None
    found["tokens"] = statistics.mean(each.tokens for each in asked)
    found["tokens_most"] = max(each.tokens for each in asked)
    found["context_ms"] = 1_000 * statistics.median(each.seconds for each in asked)
    found["add_ms"] = 1_000 * result.adding / max(1, result.turns)
    found["calls"] = result.calls / max(1, result.turns)
    return found


def _groups(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    """Questions by what was taken back, and by how long ago the answer was told."""
    return {
        "untouched": [each for each in asked if not each.by],
        "edited": [each for each in asked if "edit" in each.by],
        "swiped": [each for each in asked if each.by and "edit" not in each.by],
        "recent": [each for each in asked if each.since < 20],
        "old": [each for each in asked if each.since >= 20],
    }
