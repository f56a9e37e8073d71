"""Loose reports: what a reply without a state block says in the block's own words, without the block's fence.

Small models put the fields into a fence of another name, between tags, or bare at the end of the reply. It is read
only where it can be nothing else: two fields by the very names of the form, one of them a name that no prose has, and
nothing but fields around them. It stays in the text, for a stream has shown it by then.
"""

from __future__ import annotations

import re

from attrs import frozen

from saga_core.language import every
from saga_core.state_block.fields import FIELDS, is_header
from saga_core.state_block.syntax import OPENERS, THINK_END

_FENCED = re.compile(
    r"^[ \t>]{0,40}(?P<fence>`{3,}|~{3,})[ \t]*[\w.+-]{0,20}[ \t]*\n(?P<body>.{0,4000}?)^[ \t>]*(?P=fence)", re.S | re.M
)
_TAGGED = re.compile(rf"<(?P<tag>{'|'.join(OPENERS)})>(?P<body>.{{0,3000}}?)</(?P=tag)>", re.S | re.I)
_NAMES = "|".join(sorted((field.name for field in FIELDS), key=len, reverse=True))
_FIELD = re.compile(
    rf"^[ \t>]{{0,40}}(?:[-*+•][ \t]{{1,9}})?[*_`\"'{{ ]{{0,9}}(?P<name>{_NAMES})[*_`\"']{{0,4}}[ \t]{{0,9}}[:：=]",
    re.M | re.I,
)
_HEAD = re.compile(r"[ \t>]*(?:#{1,6}[ \t]*)?[*_\[【(]*(?P<word>[\w ]{2,20})[*_\])】]*[ \t]*[:：]?[*_]*[ \t]*")
_NOTHING_ENDS = "|".join(each.block.nothing_ends for each in every() if each.block.nothing_ends)
_WHOLE_END = re.compile(r"[\s\]})\"'”.。!?]\Z" + rf"|\b(?:{_NOTHING_ENDS})\Z", re.I)
_LEAST = 2
_LONGEST_HEAD = 60
_LONGEST = 20_000


@frozen
class Loose:
    """A report as it stands: what a block's body would be, and whether it is known to be whole."""

    body: str
    closed: bool


def loose_report(text: str) -> Loose | None:
    """The last report in ``text`` that has no fence of its own; None for none."""
    ends = list(THINK_END.finditer(text))
    text = text[ends[-1].end() :] if ends else text
    text = text[-_LONGEST:]
    found = [match for pattern in (_FENCED, _TAGGED) for match in pattern.finditer(text) if _is_report(match["body"])]
    if found:
        return Loose(max(found, key=lambda match: match.start())["body"], True)
    return _bare(text)


def _is_report(body: str) -> bool:
    names = {match["name"].casefold() for match in _FIELD.finditer(body.replace(",", "\n"))}
    return len(names) >= _LEAST and any("_" in name for name in names)


def _bare(text: str) -> Loose | None:
    """The fields with which ``text`` ends: from a heading, or a blank line, to the end."""
    first = _FIELD.search(text)
    if first is None:
        return None
    body = text[first.start() :]
    above = text[: first.start()].rstrip(" \t\n").rpartition("\n")[2]
    head = _HEAD.fullmatch(above) if len(above) <= _LONGEST_HEAD else None
    headed = head is not None and is_header(head["word"])
    parted = not above.strip() or text[: first.start()].endswith(("\n\n", "\n---\n", "\n***\n"))
    if not (headed or parted) or not _is_report(body) or not _only_fields(body):
        return None
    return Loose(body, _WHOLE_END.search(text) is not None)


def _only_fields(body: str) -> bool:
    """Whether every line names a field, or goes on with one: deeper, or an item of a list."""
    lines = [line for line in body.split("\n") if line.strip()]
    return all(_FIELD.match(line) or line[:1] in " \t-*]}" for line in lines)
