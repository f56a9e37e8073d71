"""The tools that a model may be given. Each is one endpoint of the admin API, which checks and records the call.

Schemas come from the table of endpoints. A row here adds the tool's name, its risk, and which of the endpoint's
parameters a model gives, under which name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from attrs import evolve, field, frozen

from saga_core.curation import FIELDS, KINDS
from saga_core.errors import BadInput, NotFound
from saga_server.admin import ENDPOINTS, Endpoint, describe_api

Risk = Literal["read", "note", "change"]
"""``read`` changes nothing. ``note`` adds something that can be undone. ``change`` alters what the story knows. What
erases is no tool."""

_LONGEST: Final = 4_000
"""The most characters of one argument."""
_CONFINED: Final = "within_session"
"""The parameter that refuses what other sessions would see."""
_NO_TOOL: Final = frozenset({"declare", "forget", "profile", "undeclare"})
"""Corrections that erase somebody, or change what a story counts."""


@frozen
class Call:
    """A request to the admin API."""

    method: str
    path: str
    query: Mapping[str, str]
    body: bytes | None


@frozen
class Tool:
    """A tool: an endpoint, with the names under which a model gives its parameters."""

    name: str
    request: str
    """The method and the path of the endpoint."""
    risk: Risk
    params: Mapping[str, str]
    """Maps the names that a model gives to the endpoint's own."""
    fixed: Mapping[str, str] = field(factory=dict)
    """What every call sends, by the endpoint's names."""
    choices: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """The values that a parameter may have, by the endpoint's name, where a model has fewer than a person."""

    signs: Mapping[str, str] = field(factory=dict)
    """What is put before a value that a model gives, by the endpoint's name."""
    needs: tuple[str, ...] = ()
    """Parameters that this tool requires and the endpoint does not, by the endpoint's name."""

    @property
    def endpoint(self) -> Endpoint:
        """The row of the table."""
        return next(each for each in ENDPOINTS if each.request == self.request)

    @property
    def description(self) -> str:
        """The endpoint's summary, and what its parameters mean."""
        return f"{self.endpoint.summary}. {_MEANINGS[self.request]}"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        found = self._parameters()
        wanted = {name: found[own] for name, own in self.params.items() if own not in self.fixed}
        return {
            "type": "object",
            "properties": {name: schema for name, (schema, _, _) in wanted.items()},
            "required": [name for name, (_, needed, _) in wanted.items() if needed],
            "additionalProperties": False,
        }

    def pinned(self, session: str) -> Tool:
        """Return the tool for one session alone; a model can neither name another nor write into it."""
        if "session" not in self.params:
            return self
        confined = {_CONFINED: "1"} if _CONFINED in self._parameters() else {}
        return evolve(self, fixed={**self.fixed, self.params["session"]: session, **confined})

    def call(self, arguments: Mapping[str, Any]) -> Call:
        """Return the request for a call. Raises ``BadInput`` with the argument, its value and what is allowed."""
        schema, found = self.schema, self._parameters()
        for name in arguments:
            if name not in schema["properties"]:
                raise BadInput(
                    f"{name[:80]}: {self.name} has no such argument; it has {', '.join(schema['properties'])}"
                )
        for name in schema["required"]:
            if arguments.get(name) is None:
                raise BadInput(f"{name}: missing; {self.name} needs it")
        values: dict[str, Any] = dict(self.fixed)
        for name, value in arguments.items():
            own = self.params[name]
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise BadInput(f"{name}: a {type(value).__name__} is not allowed; give a text or a whole number")
            if len(str(value)) > _LONGEST:
                raise BadInput(f"{name}: {len(str(value))} characters are too many (at most {_LONGEST})")
            if own in self.choices and value not in self.choices[own]:
                raise BadInput(f"{name}: {value!r} is not allowed; give one of {', '.join(self.choices[own])}")
            values[own] = f"{self.signs[own]}{value}" if own in self.signs else value
        places: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
        for own, value in values.items():
            places[found[own][2]][own] = value
        for own, value in places["path"].items():
            if str(value) in ("", ".", ".."):  # a segment that a client would resolve to another endpoint
                raise BadInput(f"{own}: {value!r} names nothing; give an id or a name")
        path = re.sub(r"\{(\w+)\}", lambda part: quote(str(places["path"][part[1]]), safe=""), self.endpoint.path)
        body = json.dumps(places["body"], ensure_ascii=False).encode("utf-8", "replace") if places["body"] else None
        return Call(self.endpoint.method, path, {name: str(value) for name, value in places["query"].items()}, body)

    def direct(self, url: str) -> tuple[str, dict[str, Any]]:
        """Return the address for a host that asks the endpoint itself, and the JSON schema of what it gives.

        In the address, a name in braces stands for an argument. What goes into the body is the argument ``body``. The
        names are those of the endpoint.
        """
        found, path, query = self._parameters(), self.endpoint.path, dict[str, str]()
        flat: dict[str, Any] = {"properties": {}, "required": []}
        body: dict[str, Any] = {"properties": {}, "required": []}
        for own in dict.fromkeys((*self.fixed, *self.params.values())):
            schema, needed, place = found[own]
            value = self.fixed.get(own)
            if value is not None and place == "path":
                path = path.replace(f"{{{own}}}", quote(value, safe=""))
            elif value is not None and place == "query":
                query[own] = value
            else:
                if value is not None:
                    schema = {"type": "string", "enum": [value]}
                elif own in self.signs:
                    schema = {**schema, "pattern": f"^{re.escape(self.signs[own])}"}
                into = body if place == "body" else flat
                into["properties"][own] = schema
                into["required"] += [own] if needed or value is not None else []
        closed = {"type": "object", "additionalProperties": False}
        if body["properties"]:
            flat["properties"]["body"] = {**closed, **body}
            flat["required"] += ["body"]
        return f"{url}{path}{'?' if query else ''}{urlencode(query)}", {**closed, **flat}

    def _parameters(self) -> dict[str, tuple[dict[str, Any], bool, str]]:
        """Return each parameter's schema, whether it is required, and its place, by the endpoint's own names."""
        operation = _paths()[self.endpoint.path][self.endpoint.method.lower()]
        found: dict[str, tuple[dict[str, Any], bool, str]] = {}
        for each in operation.get("parameters", ()):
            about = {"description": each["description"]} if "description" in each else {}
            found[each["name"]] = ({**each["schema"], **about}, each["required"], each["in"])
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            for name, schema in body["properties"].items():
                found[name] = (schema, name in body["required"], "body")
        for name, values in self.choices.items():
            found[name] = ({"type": "string", "enum": list(values)}, *found[name][1:])
        for name in self.needs:
            found[name] = ({"type": "string"}, True, found[name][2])
        return found


@cache
def _paths() -> Mapping[str, Any]:
    """The paths of the API's description. Cached, because it describes all endpoints and each call needs one."""
    found: Mapping[str, Any] = describe_api(ENDPOINTS)["paths"]
    return found


def _same(*names: str) -> dict[str, str]:
    return {"session": "id", **{name: name for name in names}}


_ONE: Final = "/api/sessions/{id}"
_FIELDS: Final = tuple(sorted(FIELDS - {"declaration", "language", "profile"}))
"""The fields of all corrections but those that are no tool."""

_LIST: Final = "A list of a session, whole or in pages of `limit` rows. `cursor` is the `next` of the previous answer."
_MEANINGS: Final[Mapping[str, str]] = {
    "GET /api/sessions":
        "Which sessions to list: without the fleeting ones (`0`), only the fleeting ones (`1`), or `all`.",
    "GET /api/memory/search":
        "A search in the turns of a path: the one to a turn (its id, or a timeline's name), or else the active one.",
    f"GET {_ONE}/lines": "A session and one of its turns. Without `turn`, it is the turn recorded last.",
    f"GET {_ONE}/entities/{{entity}}":
        "An entity, by its id, as known at a turn. Without `turn`, it is the turn recorded last.",
    f"GET {_ONE}/entities": _LIST,
    f"GET {_ONE}/knowledge": "Either a turn by its number (`about`), or a character by name or id (`who`).",
    f"GET {_ONE}/turns":
        "A path, by the turn at its end (`head`: an id, or a timeline's name). The default is the active path. The "
        "bounds are inclusive depths.",
    f"GET {_ONE}/context":
        "A turn whose context is explained. With `text`, it is the context that this text would get after the turn.",
    f"GET {_ONE}/lore": "A session, by its id or by a name that only one session has.",
    "GET /api/roll": "Dice such as `d20` or `2d6+1`: at most 99 of at most 999 sides, and a number to add.",
    f"GET {_ONE}/changes": _LIST,
    f"POST {_ONE}/changes":
        "A manual correction: its kind, and the fields of that kind. `within_session` refuses what your other sessions "
        "would see too.",
    f"POST {_ONE}/fork": "A timeline to create, at a turn or another timeline's head.",
    f"DELETE {_ONE}/changes/{{change}}":
        "A change to undo. `within_session` refuses one that your other sessions see too.",
}  # fmt: skip
"""What the parameters of the endpoints mean, as a model reads it behind the endpoint's summary."""

TOOLS: Final[tuple[Tool, ...]] = (
    Tool("sessions", "GET /api/sessions", "read", {"limit": "limit", "cursor": "cursor"}),
    Tool(
        "recall", "GET /api/memory/search", "read",
        {"session": "session", "query": "q", "limit": "k", "turn": "turn"},
    ),
    Tool("state", f"GET {_ONE}/lines", "read", _same("turn")),
    Tool("who_is", f"GET {_ONE}/entities/{{entity}}", "read", _same("entity", "turn")),
    Tool("people_places_things", f"GET {_ONE}/entities", "read", _same()),
    Tool("who_knows", f"GET {_ONE}/knowledge", "read", _same("who", "about", "turn")),
    Tool("timeline", f"GET {_ONE}/turns", "read", _same("from_turn", "to_turn", "head")),
    Tool("explain", f"GET {_ONE}/context", "read", _same("turn")),
    Tool("lore", f"GET {_ONE}/lore", "read", _same()),
    Tool("roll", "GET /api/roll", "read", {"dice": "dice"}),
    Tool("changes", f"GET {_ONE}/changes", "read", _same()),
    Tool("remember", f"POST {_ONE}/changes", "note", _same("text"), {"kind": "note"}, needs=("text",)),
    Tool("fork", f"POST {_ONE}/fork", "note", _same("name", "turn")),
    Tool(
        "correct", f"POST {_ONE}/changes", "change", _same("kind", *_FIELDS),
        choices={"kind": tuple(each for each in KINDS if each not in _NO_TOOL)},
    ),
    Tool(
        "open_thread", f"POST {_ONE}/changes", "change", {**_same("tracker"), "thread": "value"}, {"kind": "tracker"},
        signs={"value": "+"}, needs=("tracker", "value"),
    ),
    Tool(
        "close_thread", f"POST {_ONE}/changes", "change", {**_same("tracker"), "thread": "value"}, {"kind": "tracker"},
        signs={"value": "-"}, needs=("tracker", "value"),
    ),
    Tool("undo", f"DELETE {_ONE}/changes/{{change}}", "change", _same("change")),
)  # fmt: skip
"""All tools, those that read first."""


_NAMED: Final = {each.name: each for each in TOOLS}
SESSIONS, RECALL, ROLL, WHO_IS = (_NAMED[name] for name in ("sessions", "recall", "roll", "who_is"))
SESSION: Final = Tool("session", f"GET {_ONE}", "read", _same())
PAGES: Final = Tool("pages", f"GET {_ONE}/cache", "read", _same())
WORLD: Final = Tool("world", "GET /api/library/{world}", "read", {"world": "world"})
"""These read resources and make prompts; a model cannot call the last three."""


def offered(allowed: frozenset[Risk], session: str | None = None) -> tuple[Tool, ...]:
    """Return the tools of these risks. With ``session``, they are for that session alone, and none lists others.

    Raises ``NotFound`` if no tool remains.
    """
    found = tuple(each for each in TOOLS if each.risk in allowed)
    if session is not None:
        found = tuple(each.pinned(session) for each in found if each is not SESSIONS)
    if not found:
        raise NotFound("no tool has one of these risks; allow read, note or change")
    return found
