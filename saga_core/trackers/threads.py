"""Threads of a story as narrators report them: quests, promises and plans, opened, advanced and closed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache

from attrs import frozen

from saga_core.language import clean_name, every, squash
from saga_core.trackers.tracker import LONGEST_TEXT

_REMARKS = re.compile(r"(?P<name>.*?\S)\s*(?P<remarks>(?:[(（][^()（）]*[)）]\s*)+)(?P<rest>.*)", re.DOTALL)
_NEWS = re.compile(r"(?P<name>[^:：]*[^:：\s])\s*[:：]\s*(?P<news>\S.*)", re.DOTALL)
_BETWEEN = re.compile(r"(?P<one>.*\S)\s*(?:->|=>|→|⇒)\s*(?P<other>\S.*)")
_THREADS = re.compile(r"""(?:[(（][^()（）\n]*[)）]|"[^"\n]*"|“[^“”\n]*”|[「『][^「」『』\n]*[」』]|[^;；\n])+""")
"""The threads of one text. A semicolon in parentheses or quotes does not end one."""
LONGEST_NAME = 120


class Move(StrEnum):
    """What happens to a thread."""

    OPEN = "open"
    ADVANCE = "advance"
    CLOSE = "close"


@frozen
class ThreadReport:
    """What a report says of one thread: ``text`` is the news, or how it ended, ``when`` the time at which it is due.

    ``one`` owes or promises it to ``other``; both are empty if the report does not say.
    """

    name: str
    move: Move
    text: str = ""
    when: str = ""
    one: str = ""
    other: str = ""


def read_threads(values: Sequence[str]) -> Iterator[ThreadReport]:
    """Read ``+Lantern Festival (Saturday 19:00)``, ``the debt: half is paid`` and ``-the debt (paid)``.

    In parentheses, separated by commas or each in its own, stand when it is due, and who owes it to whom: ``Mina ->
    Joon``.
    """
    for value in values:
        for part in _THREADS.findall(value):
            found = _read(part.strip())
            if found is not None:
                yield found


def _read(text: str) -> ThreadReport | None:
    sign, said = ("", text) if text[:1] not in tuple("+-−–") else (text[0], text[1:].strip())
    news, remark = "", ""
    if (parts := _REMARKS.fullmatch(said)) is not None:
        said, remark = (
            f"{parts['name']}{parts['rest']}",
            ", ".join(filter(str.strip, re.split(r"[()（）]", parts["remarks"]))),
        )
    if (parts := _NEWS.fullmatch(said)) is not None:
        said, news = parts["name"], parts["news"]
    name = clean_name(said.rstrip(" :："))[:LONGEST_NAME]
    if not squash(name) or squash(name) in _nothing():
        return None
    if sign in tuple("-−–") or (not sign and squash(news) in _ended()):
        return ThreadReport(name, Move.CLOSE, clean_name(news or remark)[:LONGEST_TEXT])
    whens, one, other = [], "", ""
    for piece in (each.strip() for each in re.split(r"[,，、;；]", remark)):
        between = _BETWEEN.fullmatch(piece)
        if between is not None:
            one, other = between["one"], between["other"]
        elif piece:
            whens.append(piece)
    move = Move.OPEN if sign == "+" or not news else Move.ADVANCE
    return ThreadReport(name, move, clean_name(news)[:LONGEST_TEXT], ", ".join(whens), one, other)


@cache
def _ended() -> frozenset[str]:
    return frozenset(squash(word) for each in every() for word in each.values.ended)


@cache
def _nothing() -> frozenset[str]:
    return frozenset(squash(word) for each in every() for word in (*each.values.nothing, *each.values.unchanged))
