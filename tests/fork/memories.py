"""Memories that need nothing heavy, to compare others with.

Each but the whole history ends with the last three turns of the chat, as a frontend would send them.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from tests.fork.runner import Message

SHOWN = 6
"""How many messages at the end of the chat a frontend sends."""
_TERMS = re.compile(r"[^\W\d_]+|\d+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def joined(messages: Sequence[Message]) -> str:
    """The messages as one text."""
    return "\n".join(message["content"] for message in messages)


def terms(text: str) -> list[str]:
    """Words in lower case; of Korean, Japanese and Chinese, pairs of characters."""
    found: list[str] = []
    for word in _TERMS.findall(text.casefold()):
        if _UNSPACED.search(word) and len(word) > 1:
            found += (word[at : at + 2] for at in range(len(word) - 1))
        else:
            found.append(word)
    return found


class History:
    """The last messages of the chat, all of them if ``last`` is None."""

    last: int | None = None

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.chat: Sequence[Message] = ()

    def add(self, messages: Sequence[Message]) -> None:
        """Keep the chat as it is."""
        self.chat = messages[1:]

    def context(self, question: str) -> str:
        """The end of the chat."""
        return joined(self.chat if self.last is None else self.chat[-self.last :])


class Last3(History):
    """What the frontend sends anyway."""

    last = SHOWN


class Last20(History):
    """A frontend with a window of 20 turns."""

    last = 40


class Bm25:
    """BM25 over the messages of the chat as it is. The best come in the order of the chat."""

    best = 10
    """How many earlier messages are found."""
    forgets = True
    """Whether messages that the chat no longer has are dropped."""

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.chat: Sequence[Message] = ()
        self.kept: dict[str, Message] = {}
        self.counts: dict[str, Counter[str]] = {}

    def add(self, messages: Sequence[Message]) -> None:
        """Keep the messages that are new."""
        self.chat = messages[1:]
        now = {message["id"]: message for message in self.chat}
        self.kept = now if self.forgets else {**self.kept, **now}

    def context(self, question: str) -> str:
        """The messages found, and the end of the chat."""
        shown = self.chat[-SHOWN:]
        hidden = {message["id"] for message in shown}
        kept = [message for id_, message in self.kept.items() if id_ not in hidden]
        return joined([*self.ranked(kept, question), *shown])

    def ranked(self, kept: Sequence[Message], question: str) -> list[Message]:
        """The best of ``kept``, in their order."""
        for message in kept:
            if message["id"] not in self.counts:
                self.counts[message["id"]] = Counter(terms(message["content"]))
        counts = [self.counts[message["id"]] for message in kept]
        mean = sum(each.total() for each in counts) / max(1, len(counts)) or 1.0
        scores = [0.0] * len(kept)
        for term in set(terms(question)):
            having = sum(term in each for each in counts)
            weight = log(1 + (len(kept) - having + 0.5) / (having + 0.5))
            for at, each in enumerate(counts):
                often = each[term]
                scores[at] += weight * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * each.total() / mean))
        first = sorted(range(len(kept)), key=lambda at: -scores[at])[: self.best]
        return [kept[at] for at in sorted(first) if scores[at] > 0]


class Bm25All(Bm25):
    """The same over all messages ever added, as a memory works that is only ever added to."""

    forgets = False


class Bm25Wide(Bm25):
    """The same with forty messages, which cost about as many tokens as SAGA's prompt."""

    best = 40


class Fts5(Bm25):
    """SQLite's FTS5 over the messages of the chat as it is."""

    def ranked(self, kept: Sequence[Message], question: str) -> list[Message]:
        """The best of ``kept``, in their order."""
        with sqlite3.connect(":memory:") as base:
            base.execute("CREATE VIRTUAL TABLE said USING fts5(terms)")
            rows = ((at, " ".join(terms(message["content"]))) for at, message in enumerate(kept))
            base.executemany("INSERT INTO said (rowid, terms) VALUES (?, ?)", rows)
            query = " OR ".join(f'"{term}"' for term in sorted(set(terms(question))))
            found = base.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?", (query, self.best))
            first = sorted(row[0] for row in found)
        base.close()
        return [kept[at] for at in first]


class Fts5All(Fts5):
    """The same over all messages ever added."""

    forgets = False
