"""Splits a Cypher query into tokens, and rejects anything that two parsers could read differently.

Backslashes are rejected, so that every parser sees the same end of a text. Outside quotes, only ASCII characters and
Hangul syllables are allowed, so nothing can look like a keyword or a blank without being one. Comments are dropped.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum, auto

from attrs import frozen

from saga_core.errors import BadInput

_MOST_CHARACTERS = 10_000


class Kind(Enum):
    """The kinds of tokens."""

    NAME = auto()
    """A keyword, variable, label, property or function."""
    QUOTED = auto()
    """A name in backquotes, which is never a keyword."""
    TEXT = auto()
    INTEGER = auto()
    DECIMAL = auto()
    SIGN = auto()
    END = auto()


@frozen
class Token:
    """A token. ``at`` and ``end`` are character offsets in the query, counted from 0."""

    kind: Kind
    text: str
    at: int
    end: int

    @property
    def word(self) -> str:
        """A name in upper case for comparison with keywords, the text of a sign, or an empty text for other tokens."""
        if self.kind is Kind.NAME:
            return self.text.upper()
        return self.text if self.kind is Kind.SIGN else ""


_PATTERNS = (
    (None, r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/"),
    (Kind.TEXT, r"'[^'\\\x00-\x1f\x7f]*'|\"[^\"\\\x00-\x1f\x7f]*\""),
    (Kind.QUOTED, r"`[^`\\\x00-\x1f\x7f]+`"),
    (Kind.DECIMAL, r"[0-9]++\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]++[eE][+-]?[0-9]+"),
    (Kind.INTEGER, r"[0-9]+"),
    (Kind.NAME, r"[A-Za-z_가-힣][A-Za-z0-9_가-힣]*"),
    (Kind.SIGN, r"<=|>=|<>|=~|\.\.|[][(){}.,:|+*%^=<>;-]|/(?!\*)"),
)
_COMPILED = tuple((kind, re.compile(pattern, re.DOTALL)) for kind, pattern in _PATTERNS)

_OPENED = {
    "'": "a text that does not end, or that holds a backslash, a line break or a control character",
    '"': "a text that does not end, or that holds a backslash, a line break or a control character",
    "`": "a name in backquotes that does not end, is empty, or holds a backslash or a control character",
    "/": "a comment that does not end",
    "$": "a parameter: there are none here, write the value",
}


def tokens(query: str) -> list[Token]:
    """Return the tokens of ``query``, ending with ``END``. Raises ``BadInput`` with the position of the error."""
    if len(query) > _MOST_CHARACTERS:
        raise BadInput(f"cypher: {len(query)} characters; the limit is {_MOST_CHARACTERS}")
    found: list[Token] = []
    at = 0
    while at < len(query):
        kind, end = _match(query, at)
        if kind is not None:
            if found and found[-1].end == at and _runs_together(found[-1], kind):
                raise BadInput(f"cypher: {query[found[-1].at : end]!r} at character {at} runs together; put a blank")
            found.append(Token(kind, query[at:end], at, end))
        at = end
    return [*found, Token(Kind.END, "", at, at)]


def _match(query: str, at: int) -> tuple[Kind | None, int]:
    for kind, pattern in _COMPILED:
        match = pattern.match(query, at)
        if match is not None:
            return kind, match.end()
    character = query[at]
    what = _OPENED.get(character)
    if what is None:
        name = unicodedata.name(character, "no letter")
        what = f"{character!r} (U+{ord(character):04X}, {name}), which may stand in quotes or backquotes only"
    raise BadInput(f"cypher: unexpected {what} at character {at}")


def _runs_together(before: Token, kind: Kind) -> bool:
    """Whether two tokens without a blank between them could be read differently."""
    signs = (Kind.SIGN, Kind.END)
    return before.kind not in signs and kind not in signs
