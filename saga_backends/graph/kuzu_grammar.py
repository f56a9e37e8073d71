"""Parses the read-only subset of Cypher that users may run. The engine gets a query rebuilt from the parsed tokens.

The grammar consists of:
``[OPTIONAL] MATCH``, ``WHERE``, ``WITH``, ``RETURN`` with ``DISTINCT``, ``AS``, ``ORDER BY``, ``SKIP`` and ``LIMIT``;
paths of up to four hops (``*1..4``); comparisons, ``IN``, ``STARTS WITH``, ``ENDS WITH``, ``CONTAINS``, ``=~``, ``IS
NULL``, arithmetic, ``CASE``, lists of values, and the functions in ``FUNCTIONS``. Everything else in Cypher is
rejected, including anything that an engine may add in the future.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from enum import Enum, auto

from attrs import frozen

from saga_core.errors import BadInput

# --- Splits a Cypher query into tokens, and rejects anything that two parsers could read differently --------------
#
# Backslashes are rejected, so that every parser sees the same end of a text. Outside quotes, only ASCII characters and
# Hangul syllables are allowed, so nothing can look like a keyword or a blank without being one. Comments are dropped.

_MOST_CHARACTERS = 10_000


class TokenKind(Enum):
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

    kind: TokenKind
    text: str
    at: int
    end: int

    @property
    def word(self) -> str:
        """A name in upper case for comparison with keywords, the text of a sign, or an empty text for other tokens."""
        if self.kind is TokenKind.NAME:
            return self.text.upper()
        return self.text if self.kind is TokenKind.SIGN else ""


_PATTERNS = (
    (None, r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/"),
    (TokenKind.TEXT, r"'[^'\\\x00-\x1f\x7f]*'|\"[^\"\\\x00-\x1f\x7f]*\""),
    (TokenKind.QUOTED, r"`[^`\\\x00-\x1f\x7f]+`"),
    (TokenKind.DECIMAL, r"[0-9]++\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]++[eE][+-]?[0-9]+"),
    (TokenKind.INTEGER, r"[0-9]+"),
    (TokenKind.NAME, r"[A-Za-z_가-힣][A-Za-z0-9_가-힣]*"),
    (TokenKind.SIGN, r"<=|>=|<>|=~|\.\.|[][(){}.,:|+*%^=<>;-]|/(?!\*)"),
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
    return [*found, Token(TokenKind.END, "", at, at)]


def _match(query: str, at: int) -> tuple[TokenKind | None, int]:
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


def _runs_together(before: Token, kind: TokenKind) -> bool:
    """Whether two tokens without a blank between them could be read differently."""
    signs = (TokenKind.SIGN, TokenKind.END)
    return before.kind not in signs and kind not in signs


FUNCTIONS = frozenset(
    "ABS AVG CEIL COALESCE COLLECT COUNT FLOOR ID LABEL LABELS LOWER MAX MIN ROUND SIZE SUBSTRING SUM TOLOWER TOUPPER "
    "TRIM UPPER".split()
)
MOST_HOPS = 4
_MOST_NESTED = 30
_MOST_INTEGER = 2**31 - 1

_READING = frozenset(
    "AND AS ASC ASCENDING BY CASE CONTAINS DESC DESCENDING DISTINCT ELSE END ENDS EXISTS FALSE IN IS LIMIT MATCH NOT "
    "NULL OPTIONAL OR ORDER RETURN SKIP STARTS THEN TRUE WHEN WHERE WITH XOR".split()
)
_OTHERS = frozenset(
    "ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMENT COMMIT COPY CREATE DELETE DETACH DROP EXPLAIN EXPORT EXTENSION "
    "FOREACH GRAPH IMPORT INSTALL LOAD MACRO MERGE PROFILE PROJECT REMOVE ROLLBACK SET TRANSACTION UNINSTALL UNION "
    "UNWIND UPDATE USE YIELD".split()
)
"""Keywords that may not be used as names. Rejecting them gives better messages, and is a second line of defence."""

_COMPARING = frozenset("= <> < <= > >= =~ + - * / % ^ AND OR XOR IN CONTAINS STARTS ENDS".split())


@frozen
class ParsedQuery:
    """A parsed query."""

    text: str
    """The query for the engine, including the limit."""
    columns: tuple[str, ...] | None
    """The column names as written in the query, or None for ``RETURN *``."""


def understand(query: str, limit: int) -> ParsedQuery:
    """Parse ``query`` and limit it to ``limit`` rows. Raises ``BadInput`` for anything outside the grammar."""
    return _Parser(query, limit).question()


class _Parser:
    """Each method parses one rule of the grammar; ``_take`` moves a token to the output."""

    def __init__(self, query: str, limit: int) -> None:
        self._query = query
        self._limit = limit
        self._tokens = tokens(query)
        self._next = 0
        self._nested = 0
        self._sent: list[str] = []

    def question(self) -> ParsedQuery:
        while self._peek() in ("MATCH", "OPTIONAL", "WITH"):
            if self._peek() == "WITH":
                self._take()
                self._projection()
                if self._accept("WHERE"):
                    self._expression()
            else:
                self._match()
        self._expect("RETURN")
        columns = self._projection(last=True)
        if self._peek() == ";":
            self._next += 1
        if self._token().kind is not TokenKind.END:
            raise self._wrong("the end of the query: one statement, of MATCH, WHERE, WITH and RETURN")
        return ParsedQuery(" ".join(self._sent), columns)

    # --- clauses --------------------------------------------------------------------------------------------------

    def _match(self) -> None:
        self._accept("OPTIONAL")
        self._expect("MATCH")
        self._list(self._path)
        if self._accept("WHERE"):
            self._expression()

    def _projection(self, *, last: bool = False) -> tuple[str, ...] | None:
        self._accept("DISTINCT")
        columns: list[str] = []
        star = self._accept("*")
        if not star:
            self._list(lambda: columns.append(self._item()))
        for name in columns:
            if columns.count(name) > 1:
                raise BadInput(f"cypher: two columns are named {name!r}; tell them apart with AS")
        if self._accept("ORDER"):
            self._expect("BY")
            self._list(self._order)
        if self._accept("SKIP"):
            self._integer(_MOST_INTEGER)
        if last:
            self._last_limit()
        elif self._accept("LIMIT"):
            self._integer(_MOST_INTEGER)
        return None if star else tuple(columns)

    def _item(self) -> str:
        start = self._token().at
        self._expression()
        name = " ".join(self._query[start : self._tokens[self._next - 1].end].split())
        if self._accept("AS"):
            name = self._name("a name").strip("`")
        return name

    def _order(self) -> None:
        self._expression()
        if self._peek() in ("ASC", "ASCENDING", "DESC", "DESCENDING"):
            self._take()

    def _last_limit(self) -> None:
        asked = self._limit
        if self._peek() == "LIMIT":
            self._next += 1
            token = self._token()
            if token.kind is not TokenKind.INTEGER:
                raise self._wrong("a whole number")
            self._next += 1
            asked = min(asked, int(token.text))
        self._sent += ["LIMIT", str(asked)]

    # --- patterns -------------------------------------------------------------------------------------------------

    def _path(self) -> None:
        self._node()
        while self._peek() in ("-", "<"):
            backward = self._accept("<")
            self._expect("-")
            if self._accept("["):
                self._described(several=True)
                self._expect("]")
            self._expect("-")
            if not backward:
                self._accept(">")
            self._node()

    def _node(self) -> None:
        self._expect("(")
        self._described(several=False)
        self._expect(")")

    def _described(self, *, several: bool) -> None:
        """Parse the variable, labels, hops and properties, all of which are optional."""
        if self._is_name():
            self._name("a variable")
        if self._accept(":"):
            self._name("a table: Entity, Tie, Scope or Meta")
            while several and self._accept("|"):
                self._name("a table")
        if several and self._accept("*"):
            self._hops()
        if self._accept("{"):
            self._list(self._property)
            self._expect("}")

    def _hops(self) -> None:
        least = self._integer(MOST_HOPS) if self._token().kind is TokenKind.INTEGER else None
        if self._accept(".."):
            if self._token().kind is not TokenKind.INTEGER:
                raise self._wrong(f"the most hops, up to {MOST_HOPS}: *1..{MOST_HOPS}")
            most = self._integer(MOST_HOPS)
            if least is not None and least > most:
                raise BadInput(f"cypher: *{least}..{most} has no length; give the smaller number first")
        elif least is None:
            raise self._wrong(f"a number of hops, up to {MOST_HOPS}: *1..{MOST_HOPS}")

    def _property(self) -> None:
        self._name("a property")
        self._expect(":")
        self._expression()

    # --- expressions ----------------------------------------------------------------------------------------------

    def _expression(self) -> None:
        """Parse operands and the operators between them. Precedence is left to the engine."""
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise BadInput(f"cypher: nested more than {_MOST_NESTED} deep at character {self._token().at}")
        self._operand()
        while self._peek() in _COMPARING:
            if self._take() in ("STARTS", "ENDS"):
                self._expect("WITH")
            self._operand()
        self._nested -= 1

    def _operand(self) -> None:
        while self._peek() in ("NOT", "-", "+"):
            self._take()
        self._value()
        while self._peek() in (".", "[", "IS"):
            if self._accept("."):
                self._name("a property")
            elif self._accept("["):
                self._expression()
                self._expect("]")
            else:
                self._take()
                self._accept("NOT")
                self._expect("NULL")

    def _value(self) -> None:
        token = self._token()
        if token.kind in (TokenKind.TEXT, TokenKind.INTEGER, TokenKind.DECIMAL) or token.word in (
            "TRUE",
            "FALSE",
            "NULL",
        ):
            self._take()
        elif self._accept("("):
            self._expression()
            self._expect(")")
        elif self._accept("["):
            if self._peek() != "]":
                self._list(self._expression)
            self._expect("]")
        elif token.word == "CASE":
            self._case()
        elif token.kind is TokenKind.NAME and self._tokens[self._next + 1].word == "(":
            self._call()
        elif self._is_name():
            self._name("a value")
        else:
            raise self._wrong("a value")

    def _case(self) -> None:
        self._expect("CASE")
        if self._peek() != "WHEN":
            self._expression()
        while True:
            self._expect("WHEN")
            self._expression()
            self._expect("THEN")
            self._expression()
            if self._peek() != "WHEN":
                break
        if self._accept("ELSE"):
            self._expression()
        self._expect("END")

    def _call(self) -> None:
        token = self._token()
        if token.word not in FUNCTIONS:
            known = ", ".join(sorted(name.lower() for name in FUNCTIONS))
            raise BadInput(
                f"cypher: {token.text}(…) at character {token.at} is not allowed; these functions are: {known}"
            )
        self._take()
        self._expect("(")
        if token.word == "COUNT" and self._accept("*"):
            self._expect(")")
            return
        self._accept("DISTINCT")
        self._list(self._expression)
        self._expect(")")

    # --- tokens ---------------------------------------------------------------------------------------------------

    def _token(self) -> Token:
        return self._tokens[self._next]

    def _peek(self) -> str:
        return self._token().word

    def _take(self) -> str:
        token = self._token()
        self._next += 1
        self._sent.append(token.word if token.word in _READING else token.text)
        return token.word

    def _accept(self, word: str) -> bool:
        if self._peek() != word:
            return False
        self._take()
        return True

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise self._wrong(word)

    def _list(self, rule: Callable[[], None]) -> None:
        rule()
        while self._accept(","):
            rule()

    def _integer(self, most: int) -> int:
        token = self._token()
        if token.kind is not TokenKind.INTEGER:
            raise self._wrong("a whole number")
        if len(token.text) > 10 or int(token.text) > most:
            raise BadInput(f"cypher: {token.text} at character {token.at} is too much; give at most {most}")
        self._take()
        return int(token.text)

    def _is_name(self) -> bool:
        token = self._token()
        if token.kind is TokenKind.QUOTED:
            return True
        return token.kind is TokenKind.NAME and token.word not in _READING and token.word not in _OTHERS

    def _name(self, what: str) -> str:
        if not self._is_name():
            raise self._wrong(what)
        token = self._token()
        self._take()
        return token.text

    def _wrong(self, wanted: str) -> BadInput:
        token = self._token()
        if token.word in _OTHERS:
            return BadInput(f"cypher: {token.text} at character {token.at} is not allowed: only reading is")
        found = token.text or "the end"
        return BadInput(f"cypher: at character {token.at} stands {found}, where {wanted} was expected")
