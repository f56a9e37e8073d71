"""The description of an endpoint: its path, its parameters and its answer.

Parameters are those of the handler, after the request. Their types are annotated by ``in_path``, ``in_query``,
``in_body`` and similar functions, and say what may be given: a text, a whole number, a flag (``1`` or ``0``), one of
several words, or seconds. Answers are attrs classes of JSON-able fields. These classes have neither ``__eq__`` nor
``__repr__``, because the code that attrs generates for both takes 8 KB of memory per class.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, Literal, get_type_hints

from aiohttp import web
from attrs import Attribute, field, frozen

JSON: Final = "application/json"

LEFT_OUT_WHEN_NONE: Final = {"left out when none": True}
"""Metadata of an answer's field that is omitted from the JSON if it is None."""

Method = Literal["GET", "POST", "DELETE"]
Reach = Literal["open", "shared", "own", "admin"]
"""Who may use an endpoint. ``open``: everybody, without a key. ``shared``: players and administrators, with the same
answer, which holds nothing of a story. ``own``: players for their own sessions, administrators for all sessions.
``admin``: administrators only."""
Place = Literal["path", "query", "body", "fields", "upload"]

_MOST: Final = 2**31


@frozen
class Spec:
    """Where a request gives a parameter, and which values are allowed."""

    place: Place
    name: str = ""
    """The name in the request, if it differs from the handler's."""
    example: str | None = None
    """The value that the list of endpoints shows behind ``?name=``; None if the parameter is not shown."""
    least: int = 0
    most: float = _MOST
    """The upper bound of a number or of seconds; ``least`` is the lower bound of a number."""
    names: Callable[[], Collection[str]] = tuple
    """For the place ``fields``: the names of the body's fields that are collected."""
    media: str = JSON
    others: tuple[str, ...] = ()
    """For an upload: further media types."""
    remedy: str = ""
    """The advice in the error message if the parameter is missing; if empty, it says what the type allows."""
    narrows: bool = False
    """For a text in the query: whether it is refused if it is blank, because without it more would be removed."""
    number: bool = False
    """For a text in the body: whether it may be given as a whole number."""


@frozen
class Endpoint:
    """One endpoint of the admin API.

    The routes, the validation, the OpenAPI document and the list in docs/ are generated from it.
    """

    method: Method
    path: str
    handler: Callable[..., Awaitable[Any]]
    """The handler. It may raise ``SagaError``. Its annotations say what it takes and returns."""
    summary: str
    answer: type[Any] = field(init=False)
    """An attrs class, or ``web.StreamResponse`` if the answer is not a JSON object."""
    tags: tuple[str, ...] = field(kw_only=True)
    reach: Reach = field(kw_only=True)
    """For ``own``, a session in the parameters is looked up among the player's sessions. A handler without a session
    parameter must itself restrict its answer to ``Bearer.scope``."""
    costs: bool = field(default=False, kw_only=True)
    """Whether the request calls a model, and so counts as a turn of the key."""
    grows: bool = field(default=False, kw_only=True)
    """Whether the request adds to the journal, and so is refused to a key whose quota of bytes is used up."""
    status: int = field(default=200, kw_only=True)
    status_of: Callable[[Any], int] | None = field(default=None, kw_only=True)
    """Returns the status of an answer, if it varies."""
    other_status: tuple[int, str] = field(default=(0, ""), kw_only=True)
    """The second possible status, and its description."""
    media: str = field(default=JSON, kw_only=True)
    any_query: bool = field(default=False, kw_only=True)
    """Whether unknown query parameters are accepted; probes may send some."""
    if_match: str | None = field(default=None, kw_only=True)
    """For a request that changes something: the path whose ``ETag`` is compared with ``If-Match``."""

    @answer.default
    def _returns(self) -> Any:
        return get_type_hints(self.handler)["return"]

    @property
    def open(self) -> bool:
        """Whether the endpoint works without a key."""
        return self.reach == "open"

    @property
    def request(self) -> str:
        """The method and the path, such as ``GET /api/status``."""
        return f"{self.method} {self.path}"


TABLE: Final = web.RequestKey("table", tuple[Endpoint, ...])
"""The table of all endpoints. The dispatcher sets it for the handler that describes the API."""


def in_path(name: str = "") -> Spec:
    """Annotate a part of the path."""
    return Spec("path", name)


def in_query(*, name: str = "", example: str | None = None, least: int = 0, most: float = _MOST) -> Spec:
    """Annotate a query parameter. It is required if it has no default."""
    return Spec("query", name, example=example, least=least, most=most)


def in_body(*, name: str = "", remedy: str = "give a text in the body", number: bool = False) -> Spec:
    """Annotate a text in the JSON object of the body. It is required if it has no default.

    ``number`` also allows a whole number.
    """
    return Spec("body", name, remedy=remedy, number=number)


def body_fields(names: Callable[[], Collection[str]]) -> Spec:
    """Annotate what collects all fields of the body that are in ``names`` and not null."""
    return Spec("fields", names=names)


def upload(media: str, *others: str) -> Spec:
    """Annotate the raw body, in one of these media types."""
    return Spec("upload", media=media, others=others)


def may_be_left_out(attribute: Attribute[Any]) -> bool:
    """Whether an answer's field has the metadata ``LEFT_OUT_WHEN_NONE``."""
    return "left out when none" in attribute.metadata
