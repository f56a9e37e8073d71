"""What describes an endpoint: its place, what it takes, what it answers.

Parameters are an attrs class whose fields are made with ``in_path``, ``in_query``, ``in_body`` and their like. The
type of a field says what may be given: a text, a whole number, a flag (``1`` or ``0``), one of several words, or
seconds. Answers are attrs classes of JSON-able fields. None of either kind is compared or printed: what attrs makes
for that takes 8 KB of memory a class, 1 MB in all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, Generic, Literal, TypeVar

from aiohttp import web
from attrs import NOTHING, Attribute, field, frozen

JSON: Final = "application/json"

P = TypeVar("P")
A = TypeVar("A")

LEFT_OUT_WHEN_NONE: Final = {"left out when none": True}
"""The metadata of an answer's field that is only there when it is known."""

Method = Literal["GET", "POST", "DELETE"]
Reach = Literal["open", "shared", "own", "admin"]
"""Whose an answer is. ``open``: whoever asks, without a key. ``shared``: the same for every key that may look inside,
and nothing of a story. ``own``: a player's own sessions alone, and all of them for an administrator. ``admin``: an
administrator's."""
Place = Literal["path", "query", "body", "fields", "upload"]

_MOST: Final = 2**31


@frozen
class Spec:
    """Where a field of a class of parameters is in a request, and what may stand there."""

    place: Place
    name: str = ""
    """Its name in the request, where it is another than the field's."""
    example: str | None = None
    """What the list of endpoints shows behind ``?name=``; None: it is not shown."""
    least: int = 0
    most: float = _MOST
    """Bounds of a number; of seconds there is only ``most``."""
    names: Callable[[], Collection[str]] | None = None
    """Of ``fields``: the names that it collects."""
    media: str = JSON
    others: tuple[str, ...] = ()
    """Of an upload: further media types."""
    remedy: str = ""
    """What to do when it is missing."""
    number: bool = False
    """Of a text in the body: whether a whole number may stand for it."""


@frozen
class NoParams:
    """Nothing is taken."""


@frozen
class Endpoint(Generic[P, A]):
    """One request of the admin API. Routes, validation, the OpenAPI document and the list in docs/ are made from it."""

    method: Method
    path: str
    handler: Callable[[web.Request, P], Awaitable[A]]
    """Raises ``SagaError``."""
    params: type[P]
    answer: type[A]
    """An attrs class; ``web.StreamResponse`` for what is no JSON object."""
    summary: str
    tags: tuple[str, ...] = field(kw_only=True)
    reach: Reach = field(kw_only=True)
    """Of ``own``: a session among the parameters is found among hers, and a handler that takes none keeps to
    ``scope_of`` the request."""
    costs: bool = field(default=False, kw_only=True)
    """Whether a model is asked for it: it counts as a turn of the key."""
    status: int = field(default=200, kw_only=True)
    status_of: Callable[[A], int] | None = field(default=None, kw_only=True)
    """The status of an answer, where it is not always the same."""
    other_status: tuple[int, str] = field(default=(0, ""), kw_only=True)
    """The status that it may be besides, and when."""
    media: str = field(default=JSON, kw_only=True)
    any_query: bool = field(default=False, kw_only=True)
    """Probes may send parameters that nobody knows."""
    if_match: str | None = field(default=None, kw_only=True)
    """Of what changes something: the path whose answer's ``ETag`` an ``If-Match`` is compared with."""

    @property
    def open(self) -> bool:
        """Answered without a key."""
        return self.reach == "open"

    @property
    def request(self) -> str:
        """``GET /api/status``."""
        return f"{self.method} {self.path}"


TABLE: Final = web.RequestKey("table", tuple[Endpoint[Any, Any], ...])
"""The table in which the row of a request stands. The dispatcher puts it there, for what describes all of it."""


def in_path(name: str = "") -> Any:
    """A part of the path."""
    return field(metadata={Spec: Spec("path", name)})


def in_query(
    default: Any = NOTHING,
    *,
    example: str | None = None,
    least: int = 0,
    most: float = _MOST,
) -> Any:
    """A query parameter; one without a default is needed."""
    spec = Spec("query", example=example, least=least, most=most, remedy="give a text")
    return field(default=default, metadata={Spec: spec})


def in_body(
    default: Any = NOTHING, *, name: str = "", remedy: str = "give a text in the body", number: bool = False
) -> Any:
    """A text in the JSON object of the body; one without a default is needed. ``number``: or a whole number."""
    return field(default=default, metadata={Spec: Spec("body", name, remedy=remedy, number=number)})


def body_fields(names: Callable[[], Collection[str]]) -> Any:
    """Every field of the body that is one of ``names`` and not null, together."""
    return field(factory=dict, metadata={Spec: Spec("fields", names=names)})


def upload(media: str, *others: str) -> Any:
    """The body, when it is no JSON object: in one of these media types."""
    return field(metadata={Spec: Spec("upload", media=media, others=others)})


def may_be_left_out(attribute: Attribute[Any]) -> bool:
    """Whether a field of an answer has the metadata ``LEFT_OUT_WHEN_NONE``."""
    return "left out when none" in attribute.metadata
