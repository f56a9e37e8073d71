"""Chinese index terms are bigrams, and also each single character, in simplified form.

In measurements with questions in other words than the story's, this finds more than word segmentation
(docs/dependencies.md has the figures), because about half of the questions use the short form of a word.
"""

from __future__ import annotations

import re
from itertools import chain

from saga_core.language.grammar import Grammar
from saga_core.language.han import BEHIND, COUNTABLE, LETTERS, SPELLED, numbers_in, simplified, value

_FUNCTION = frozenset(
    "的了吗呢吧啊呀哦嘛是在我你您他她它们这那哪什么谁怎样为过着来就都也还和与跟及有把被给要会能可以之其此得地很又再才却而但或到从向对于里上下中个些"
)
"""Characters that are mostly particles, pronouns, question words and the like."""
_FUNCTION_PAIRS = (
    "什么 怎么 怎样 哪里 哪儿 为什 是什 是谁 我们 你们 他们 她们 它们 时候 这个 那个 一个 我的 你的 他的 她的"
)
_HAN = re.compile(f"[{LETTERS}]")
_BOUNDS = re.compile("[的了在是和与跟及把被给到从向对于里上下中有说问看去来进出回往之也都就还不]")
"""Matches a character that may stand next to a name of one character."""


def _terms(run: str) -> tuple[str, ...]:
    plain = simplified(run)
    if len(plain) < 2:
        return (plain,)
    return (*(plain[at : at + 2] for at in range(len(plain) - 1)), *plain, *numbers_in(plain))


def _content(run: str) -> tuple[str, ...]:
    """The text between function words, in pairs of characters."""
    found: list[str] = []
    for part in "".join(" " if char in _FUNCTION else char for char in simplified(run)).split():
        found += [part[at : at + 2] for at in range(max(1, len(part) - 1))]
    return tuple(found)


def _particular(run: str) -> tuple[str, ...]:
    """The terms of the text between function words. A bigram with a function word would be as rare as a name."""
    told = "".join(" " if char in _FUNCTION else char for char in simplified(run))
    return tuple(chain.from_iterable(map(_terms, told.split())))


def _stands(text: str, start: int, end: int) -> bool:
    """A name of two characters or more always counts as a word. A single one may only touch Han characters in
    ``_BOUNDS``."""
    if end - start > 1:
        return True
    beside = (text[start - 1 : start], text[end : end + 1])
    return all(_HAN.match(char) is None or _BOUNDS.match(char) for char in beside)


GRAMMAR = Grammar(
    letters=LETTERS,
    run=f"[{LETTERS}]+",
    terms=_terms,
    content=_content,
    particular=_particular,
    function=_FUNCTION | frozenset(_FUNCTION_PAIRS.split()),
    stands=_stands,
    named=f"[{LETTERS}]",
    spelled=SPELLED,
    joined=f"{BEHIND}{SPELLED}",
    number=value,
    countable=COUNTABLE,
    fragments={"spelled": SPELLED},
)
