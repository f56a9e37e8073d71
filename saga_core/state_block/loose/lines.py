"""Classifies the lines of a report without a fence of its own, from as few characters as possible.

While a line is still being read, its sort may be one of ``UNFINISHED``. Any other sort is final.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum
from string import ascii_letters, digits

from saga_core.language import all_of, every, normalized
from saga_core.state_block.fields import FIELDS, field_of, is_header
from saga_core.state_block.spelling import squash
from saga_core.state_block.syntax import BLANKS

_SPACE = f"{BLANKS}\r>"
_ASSIGNS = ":：=＝"
_RULES = frozenset("-=_*")
_LONGEST_RULE = 80
_DRESS = re.compile(rf"[{_SPACE}]{{0,40}}(?:[-*+•][ \t]{{1,9}})?(?:#{{1,6}}[ \t]{{0,9}})?[*_`\"'{{｛\[［【(（ ]{{0,9}}")
_MARKS = "".join(filter(unicodedata.combining, map(chr, range(0x300, 0x3100))))
_WORD = re.compile(rf"[\w{_MARKS} -]{{1,40}}")
_UNDRESS = re.compile(rf"[*_`\"'\]］】)）]{{0,4}}[{BLANKS}\r]{{0,9}}")
_FENCE = re.compile(
    rf"[{_SPACE}]{{0,40}}(?P<run>`{{3,}}|~{{3,}})[{BLANKS}]{{0,9}}[\w.+-]{{0,20}}[{BLANKS}\r]{{0,9}}(?P<rest>\{{.*)?",
    re.S,
)
_LONGEST_PAIR = 30

_NAMES = "|".join(sorted((field.name for field in FIELDS), key=len, reverse=True))
_CANONICAL = frozenset(field.name for field in FIELDS)
_FIELD = re.compile(
    rf"^[{_SPACE}]{{0,40}}(?:[-*+•][ \t]{{1,9}})?[*_`\"'{{ ]{{0,9}}(?P<name>{_NAMES})"
    rf"[*_`\"']{{0,4}}[ \t]{{0,9}}[{_ASSIGNS}]",
    re.M | re.I,
)
_PARTS = re.compile(r"[,{;]")
# The underscore comes first, because a search for a literal character skips the rest of the text quickly.
_PARTED = [name.split("_", 1) for name in sorted(_CANONICAL) if "_" in name]
_TELLING = re.compile(f"_(?:{'|'.join(f'(?<={head}_){tail}' for head, tail in _PARTED)})", re.I)


def _decomposed(text: str) -> str:
    """``text`` in a form in which a prefix of ``text`` gives a prefix of the result, whatever its Unicode form."""
    return "".join(filter(str.isalnum, normalized("NFKD", text.casefold())))


def _beginnings(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:length] for word in map(_decomposed, words) for length in range(len(word) + 1))


def _first_letters(words: Iterable[str]) -> str:
    """The first letters of words, in any case and Unicode form."""
    found: set[str] = set()
    for word in words:
        for form in ("NFC", "NFD"):
            first = normalized(form, word)[0]
            found |= {first.lower(), first.upper()}
            parts = normalized("NFD", first)
            if len(parts) > 2:  # the syllable without its last consonant, which may arrive in a later chunk
                found.add(normalized("NFC", parts[:2]))
    return "".join(sorted(found))


_HEADS = all_of(lambda each: each.block.headers)
_LETTERS = "A-Z" + "".join(each.grammar.letters for each in every())
begins_story = re.compile(rf"<|[\"'*_(]{{0,3}}(?![{_first_letters(_HEADS | _CANONICAL)}])[{_LETTERS}]").match
"""Matches the beginning of a line that cannot begin a report, as nearly every line of a reply does. No match proves
nothing."""
_OF_HEADS = _beginnings(_HEADS)
_LONGEST_TAG = 40
_MANY_TAGS = 64
"""The number of different tags that a quick check compares with the names of a report."""
_IN_NO_TAG = "".join(sorted({*ascii_letters, *digits} - {*_first_letters(_HEADS)}))
_TAG = re.compile(rf"<(?![{_IN_NO_TAG}])([^\s<>/]{{1,{_LONGEST_TAG}}})>")
plain = re.compile(rf"(?:[^<\n]++|<(?=[{_IN_NO_TAG}<>/\s]))++").match
"""Matches text within a line up to a ``<`` that may begin a tag that names a report."""


class Sort(Enum):
    """The sort of a line, as far as it has been read."""

    NO = "no line of a report"
    BEGUN = "a line that may go on as a heading, or as anything"
    BEGUN_FIELD = "a line that may go on as a field by the form's own name"
    BEGUN_KEY = "a line that may go on as a field by another name"
    BEGUN_PAIR = "a line that may go on as any key"
    BLANK = "an empty line"
    RULE = "a line across"
    HEAD = "a heading that names the report"
    ROOT = "the beginning of a map that holds the report"
    FIELD = "a field by the form's own name"
    KEY = "a field by another name"
    PAIR = "a key of anything else"


_BEGINNINGS = (
    (Sort.BEGUN, _OF_HEADS),
    (Sort.BEGUN_FIELD, _beginnings(_CANONICAL)),
    (Sort.BEGUN_KEY, _beginnings(alias for field in FIELDS for alias in field.aliases.split())),
)
UNFINISHED = frozenset({Sort.BEGUN, Sort.BEGUN_FIELD, Sort.BEGUN_KEY, Sort.BEGUN_PAIR})


def sort_of(line: str, *, ended: bool) -> Sort:
    """The sort of ``line``. ``ended`` says that the line is complete."""
    bare = line.strip(_SPACE)
    if not bare:
        return Sort.BLANK if ended else Sort.BEGUN
    if bare[0] in _RULES and set(bare) <= _RULES:
        if not ended:
            return Sort.BEGUN if len(bare) <= _LONGEST_RULE else Sort.NO
        return Sort.RULE if 3 <= len(bare) <= _LONGEST_RULE else Sort.NO
    dress = _DRESS.match(line)
    rest = line[dress.end() :] if dress else line
    if not rest.strip(_SPACE):
        if not ended:
            return Sort.BEGUN
        return Sort.ROOT if bare in ("{", "｛", "[{") else Sort.NO
    key = _WORD.match(rest)
    return _sort_of_key(key.group(), rest[key.end() :], ended=ended) if key else Sort.NO


def _sort_of_key(word: str, tail: str, *, ended: bool) -> Sort:
    if not tail and not ended:
        begun = _decomposed(word)
        found = next((sort for sort, beginnings in _BEGINNINGS if begun in beginnings), Sort.NO)
        return Sort.BEGUN_PAIR if found is Sort.NO and len(word) <= _LONGEST_PAIR else found
    undress = _UNDRESS.match(tail)
    behind = tail[undress.end() :] if undress else tail
    if behind and behind[0] not in _ASSIGNS:  # prose, as nearly every line of a reply is
        return Sort.NO
    head, field, own = is_header(word), field_of(word) is not None, word.strip().casefold() in _CANONICAL
    if not behind:
        if ended:
            return Sort.HEAD if head else Sort.NO
        if head or own or field:
            return Sort.BEGUN if head else Sort.BEGUN_FIELD if own else Sort.BEGUN_KEY
        return Sort.BEGUN_PAIR if len(word) <= _LONGEST_PAIR else Sort.NO
    if head:
        value = behind[1:].strip(f"{_SPACE}*_`\"'")
        if not value:
            return Sort.HEAD if ended else Sort.BEGUN
        return Sort.ROOT if value[0] in "{｛" else Sort.NO
    if own:
        return Sort.FIELD
    if field:
        return Sort.KEY
    return Sort.PAIR if len(word) <= _LONGEST_PAIR and squash(word) else Sort.NO


def fence_of(line: str, *, ended: bool) -> tuple[str, str] | None:
    """The run that opens a fence in ``line``, and the beginning of a map after it.

    ("", "") while the line is incomplete; None for a line that opens no fence.
    """
    bare = line.strip(_SPACE)
    if not ended and bare and bare[0] in "`~" and len(set(bare)) == 1:
        return "", ""
    found = _FENCE.match(line)
    if found is None or found.end() < len(line):
        return None
    if found["rest"] is None and not ended:
        return "", ""
    return found["run"], found["rest"] or ""


def names_in(line: str) -> set[str]:
    """The canonical names of the fields that ``line`` states under these names."""
    return {found["name"].casefold() for found in _FIELD.finditer(_PARTS.sub("\n", line))}


def field_in(line: str) -> set[str]:
    """A set with the canonical name of the field that ``line`` begins with, under any name; empty if there is none."""
    dress = _DRESS.match(line)
    word = _WORD.match(line, dress.end() if dress else 0)
    field = field_of(word.group()) if word and sort_of(line, ended=True) in (Sort.FIELD, Sort.KEY) else None
    return {field.name} if field else set()


def begun_name(line: str) -> str:
    """The field whose canonical name begins with the text of ``line``; "" for none, or without an underscore."""
    dress = _DRESS.match(line)
    word = (line[dress.end() :] if dress else line).strip().lstrip("]}］｝> \t").casefold()
    return next((field.name for field in FIELDS if "_" in word and field.name.startswith(word)), "")


def begins_tag(text: str) -> bool:
    """Whether ``text``, which begins with ``<``, may become a tag that names a report."""
    name = text[1:]
    if len(name) > _LONGEST_TAG or any(char.isspace() or char in "<>/" for char in name):
        return False
    return _decomposed(name) in _OF_HEADS


def is_telling(names: set[str]) -> bool:
    """Whether fields with these names can only be a report: at least two, one of them with an underscore."""
    return len(names) >= 2 and any("_" in name for name in names)


def may_hold_report(text: str) -> bool:
    """A quick check whether ``text`` may contain a report."""
    if "_" in text and (_TELLING.search(text) is not None or "_" in text[-_LONGEST_TAG:]):
        return True
    seen: set[str] = set()
    for found in _TAG.finditer(text) if "<" in text else ():
        if found[1] not in seen:
            if len(seen) >= _MANY_TAGS or is_header(found[1]):
                return True
            seen.add(found[1])
    return False
