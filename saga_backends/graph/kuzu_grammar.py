"""Parses the read-only subset of Cypher that users may run. The engine gets a query rebuilt from the parsed tokens.

The grammar consists of:
``[OPTIONAL] MATCH``, ``WHERE``, ``WITH``, ``RETURN`` with ``DISTINCT``, ``AS``, ``ORDER BY``, ``SKIP`` and ``LIMIT``;
paths of up to four hops (``*1..4``); comparisons, ``IN``, ``STARTS WITH``, ``ENDS WITH``, ``CONTAINS``, ``=~``, ``IS
NULL``, arithmetic, ``CASE``, lists of values, and the functions in ``FUNCTIONS``. Everything else in Cypher is
rejected, including anything that an engine may add in the future.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from saga_backends.graph.kuzu_tokens import Kind, Token, tokens
from saga_core.errors import BadInput

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
class Question:
    """A parsed query."""

    text: str
    """The query for the engine, including the limit."""
    columns: tuple[str, ...] | None
    """The column names as written in the query, or None for ``RETURN *``."""


def understand(query: str, limit: int) -> Question:
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

    def question(self) -> Question:
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
        if self._token().kind is not Kind.END:
            raise self._wrong("the end of the query: one statement, of MATCH, WHERE, WITH and RETURN")
        return Question(" ".join(self._sent), columns)

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
            if token.kind is not Kind.INTEGER:
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
        least = self._integer(MOST_HOPS) if self._token().kind is Kind.INTEGER else None
        if self._accept(".."):
            if self._token().kind is not Kind.INTEGER:
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
        if token.kind in (Kind.TEXT, Kind.INTEGER, Kind.DECIMAL) or token.word in ("TRUE", "FALSE", "NULL"):
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
        elif token.kind is Kind.NAME and self._tokens[self._next + 1].word == "(":
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
        if token.kind is not Kind.INTEGER:
            raise self._wrong("a whole number")
        if len(token.text) > 10 or int(token.text) > most:
            raise BadInput(f"cypher: {token.text} at character {token.at} is too much; give at most {most}")
        self._take()
        return int(token.text)

    def _is_name(self) -> bool:
        token = self._token()
        if token.kind is Kind.QUOTED:
            return True
        return token.kind is Kind.NAME and token.word not in _READING and token.word not in _OTHERS

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
