"""The doors: the APIs that clients speak, found by the entry-point group ``saga.doors``, and the table of their paths.

docs/write-a-door.md shows how to write one. Each path also works behind a base URL that names a session and a world.
Extra slashes in a path or at its end are ignored.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint
from typing import Any, Final
from urllib.parse import unquote

from aiohttp import web
from aiohttp.typedefs import Handler
from attrs import define, field, frozen

from saga_core.foreign import foreign
from saga_core.registry import entry_points, found_at
from saga_server.http.errors import ErrorForm, openai_error

_log = logging.getLogger("saga.server")

GROUP = "saga.doors"
BASES = ("", "/s/{session}", "/w/{world}", "/s/{session}/w/{world}", "/w/{world}/s/{session}")
"""The base URLs that may precede every path. They name a session and a world."""
_BASE = re.compile(r"(?:/+s/+(?P<s>[^/]+)(?:/+w/+(?P<sw>[^/]+))?|/+w/+(?P<w>[^/]+)(?:/+s/+(?P<ws>[^/]+))?)(?=/)")
_SLASHES = re.compile("//+")

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")

Methods = Mapping[str, Handler]
"""The handler of each HTTP method. ``GET`` also answers ``HEAD``."""


@frozen(kw_only=True)
class PathPattern:
    """Paths that hold a name, such as a model's."""

    regex: re.Pattern[str]
    """Matches a whole path as it is sent, percent-encoded. Its named groups are the names."""
    methods: Methods
    template: str
    """The path for the audit log, which must not hold what a client wrote."""


@frozen(kw_only=True)
class ModelFormat:
    """How an API describes models."""

    one: Callable[[str], Mapping[str, Any]]
    all: Callable[[Sequence[str]], Mapping[str, Any]]
    headers: Sequence[str] = ()
    """Headers that only clients of this API send. They get its format at ``/v1/models``, which several APIs have."""


@frozen(kw_only=True)
class Door:
    """An API that clients speak."""

    paths: Mapping[str, Methods] = field(factory=dict)
    patterns: Sequence[PathPattern] = ()
    error: ErrorForm = openai_error
    """The form in which the API reports errors."""
    models: ModelFormat | None = None
    key_in_query: bool = False
    """Whether clients may send their key as ``key=`` in the query."""
    admin: bool = False
    """Whether the paths reach what the admin API does. Its rules for hosts, origins and keys hold for them too."""
    chats_at: Sequence[str] = ()
    texts_at: Sequence[str] = ()
    """The paths of chats and of text completion that the message about an unknown path names."""


@frozen
class Place:
    """Where a request goes: the door that serves it, and the names in the request's path."""

    door: Door
    methods: Methods
    path: str
    """The path without the base URL."""
    template: str
    """The path for the audit log."""
    session: str = ""
    world: str = ""
    named: Mapping[str, str] = field(factory=dict)
    """Other names in the path."""

    def handler(self, method: str) -> Handler | None:
        """Return the handler of an HTTP method, None if the place does not support it."""
        return self.methods.get("GET" if method == "HEAD" else method)


@define(eq=False)
class Doors:
    """The doors of a server."""

    loaded: dict[str, Door] = field(factory=dict, init=False)
    failed: dict[str, str] = field(factory=dict, init=False)
    """The reasons why doors are missing, by name."""
    _paths: dict[str, tuple[Door, Methods]] = field(factory=dict, init=False)

    @classmethod
    def load(cls, points: Iterable[EntryPoint] | None = None) -> Doors:
        """Load every installed door. One that fails is logged, and leaves the others working."""
        doors = cls()
        found = entry_points(group=GROUP) if points is None else points
        for point in sorted(found, key=lambda each: each.name):
            try:
                with foreign:
                    doors.add(point.name, found_at(point.module, point.attr))
            except Exception as error:  # noqa: BLE001 - the code of others; logged, and shown in the status
                doors.failed[point.name] = reason = f"{point.value}: {str(error) or type(error).__name__}"
                _log.error("the door %s is missing: %s", point.name, reason)
                _log.debug("why the door %s is missing", point.name, exc_info=error)
        return doors

    def add(self, name: str, door: Door) -> None:
        """Add a door. Raises ``TypeError`` for anything else, and ``ValueError`` if a path is none or is taken."""
        if not isinstance(door, Door):
            raise TypeError(f"a {type(door).__name__}, and no saga_server.http.Door")
        patterns: Sequence[Any] = door.patterns
        for each in patterns:
            regex = each.regex if isinstance(each, PathPattern) else None
            if not isinstance(getattr(regex, "pattern", None), str):
                raise TypeError(f"the pattern {each!r} cannot be matched; give PathPattern a regex of re.compile('…')")
        served: list[tuple[str, Any]] = [(each.template, each.methods) for each in door.patterns]
        for path, methods in (*door.paths.items(), *served):
            if not path.startswith("/"):
                raise ValueError(f"{path!r} does not begin with '/'")
            if not isinstance(methods, Mapping) or not all(name.isupper() for name in methods):
                raise TypeError(f"{path} has {methods!r}; give its handlers by method, such as {{'POST': chat}}")
            for method, handler in methods.items():
                if method not in _METHODS:
                    raise ValueError(f"{path} has the method {method!r}; give one of {', '.join(_METHODS)}")
                if not (callable(handler) and any(map(inspect.iscoroutinefunction, (handler, handler.__call__)))):
                    raise TypeError(f"{path} has {handler!r} for {method}; write it with async def, or give plays(it)")
        for path in door.paths:
            taken = next((other for other, each in self.loaded.items() if path in each.paths), None)
            if taken is not None:
                raise ValueError(f"{path} is served by the door {taken} already")
        self.loaded[name] = door
        self._paths |= {path: (door, methods) for path, methods in door.paths.items()}

    @property
    def paths(self) -> Mapping[str, Methods]:
        """Every fixed path."""
        return {path: methods for path, (_, methods) in self._paths.items()}

    def find(self, raw_path: str, method: str = "GET") -> Place | None:
        """Find where a raw (percent-encoded) request path leads. None if there is no door.

        Several patterns may match a path. The first one that has the method counts, or else the first one.
        """
        base = _BASE.match(raw_path)
        session = world = ""
        rest = raw_path
        if base is not None:
            session, world = unquote(base["s"] or base["ws"] or ""), unquote(base["w"] or base["sw"] or "")
            rest = raw_path[base.end() :]
        path = _SLASHES.sub("/", rest).rstrip("/")
        if path in self._paths:
            door, methods = self._paths[path]
            return Place(door, methods, path, path, session, world)
        places: list[Place] = []
        for door in self.loaded.values():
            for pattern in door.patterns:
                match = pattern.regex.fullmatch(path)
                if match is not None:
                    named = {name: unquote(text) for name, text in match.groupdict(default="").items()}
                    places.append(Place(door, pattern.methods, path, pattern.template, session, world, named))
        return next((place for place in places if place.handler(method)), places[0] if places else None)

    def describe(self) -> str:
        """Say at which paths the APIs are, for the error message of an unknown path."""
        chats = [path for door in self.loaded.values() for path in door.chats_at]
        texts = [path for door in self.loaded.values() for path in door.texts_at]
        told = [f"chats are at {_listed(chats)}"] if chats else []
        told += [f"text completion at {_listed(texts)}"] if texts else []
        return ", ".join((*told, "administration under /api"))


def _listed(paths: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(paths[:-1]), paths[-1])))


DOORS: Final = web.AppKey("doors", Doors)
PLACE: Final = web.RequestKey("place", Place)
"""Where a request goes, if its path belongs to a door."""
