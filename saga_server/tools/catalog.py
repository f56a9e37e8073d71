"""The tools that a model may be given. Each is one endpoint of the admin API, which checks and records the call.

Schemas come from the table of endpoints. A row here adds the tool's name, its risk, what a model reads about it, and
which of the endpoint's parameters a model gives, under which name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from attrs import evolve, field, frozen

from saga_core.curation import KINDS
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

    def bound(self, name: str, session: str) -> Call:
        """Return the call for the session with the id ``session``, where it is for the session of a name.

        Another session may get the name meanwhile.
        """
        before, path = f"/api/sessions/{quote(name, safe='')}", self.path
        if path == before or path.startswith(f"{before}/"):
            path = f"/api/sessions/{session}{path[len(before) :]}"
        query = {key: session if key == "session" else value for key, value in self.query.items()}
        return evolve(self, path=path, query=query)


@frozen
class Tool:
    """A tool: an endpoint, with the names under which a model gives its parameters."""

    name: str
    request: str
    """The method and the path of the endpoint."""
    risk: Risk
    params: Mapping[str, str]
    """Maps the names that a model gives to the endpoint's own."""
    description: str = ""
    """What a model reads about the tool."""
    meanings: Mapping[str, str] = field(factory=dict)
    """What a model reads about its arguments, where they mean something else than in other tools."""
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
        values: dict[str, str] = dict(self.fixed)
        for name, value in arguments.items():
            own = self.params[name]
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise BadInput(f"{name}: a {type(value).__name__} is not allowed; give a text or a whole number")
            if found[own][0].get("type") == "integer" and not re.fullmatch(r"-?[0-9]{1,12}", str(value)):
                raise BadInput(f"{name}: {str(value)[:40]!r} is no whole number")
            if len(str(value)) > _LONGEST:
                raise BadInput(f"{name}: {len(str(value))} characters are too many (at most {_LONGEST})")
            if own in self.choices and value not in self.choices[own]:
                raise BadInput(f"{name}: {value!r} is not allowed; give one of {', '.join(self.choices[own])}")
            values[own] = f"{self.signs.get(own, '')}{value}"
        places: dict[str, dict[str, str]] = {"path": {}, "query": {}, "body": {}}
        for own, value in values.items():
            places[found[own][2]][own] = value
        for own, value in places["path"].items():
            if value in ("", ".", "..") or not value.isprintable():  # segments that would lead to another endpoint
                raise BadInput(self.in_its_words(f"{own}: {value!r} names nothing; give an id or a name"))
        path = re.sub(r"\{(\w+)\}", lambda part: quote(places["path"][part[1]], safe=""), self.endpoint.path)
        body = json.dumps(places["body"], ensure_ascii=False).encode("utf-8", "replace") if places["body"] else None
        return Call(self.endpoint.method, path, places["query"], body)

    def in_its_words(self, refusal: str) -> str:
        """Return what the API refused, with the names of arguments and tools in place of its own."""
        for name, own in self.params.items():
            if refusal.startswith(f"{own}: "):
                refusal = f"{name}{refusal.removeprefix(own)}"
                break
        for each in TOOLS:
            refusal = refusal.replace(f"GET {each.endpoint.path.replace(_ONE, '…')} ", f"{each.name} ")
        return refusal

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
            found[each["name"]] = (each["schema"], each["required"], each["in"])
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            for name, schema in body["properties"].items():
                found[name] = (schema, name in body["required"], "body")
        for name, values in self.choices.items():
            found[name] = ({"type": "string", "enum": list(values)}, *found[name][1:])
        for name in self.needs:
            found[name] = ({"type": "string"}, True, found[name][2])
        for name, own in self.params.items():
            schema, needed, place = found[own]
            about = self.meanings.get(name) or _ARGUMENTS[name]
            found[own] = ({**schema, "description": about}, needed, place)
        return found


@cache
def _paths() -> Mapping[str, Any]:
    """The paths of the API's description. Cached, because it describes all endpoints and each call needs one."""
    found: Mapping[str, Any] = describe_api(ENDPOINTS)["paths"]
    return found


def _same(*names: str) -> dict[str, str]:
    return {"session": "id", **{name: name for name in names}}


_ONE: Final = "/api/sessions/{id}"
_KINDS: Final = {kind: fields for kind, fields in KINDS.items() if kind not in _NO_TOOL}
_KINDS_OF: Final = {
    name: [kind for kind, fields in _KINDS.items() if name in (*fields[0], *fields[1])]
    for name in sorted({name for needs, takes in _KINDS.values() for name in (*needs, *takes)})
}
"""The kinds of corrections by their fields."""

_VALUES: Final[Mapping[str, str]] = {
    "audience": "only, everybody or present. ",
    "due": "The number of a turn to come. ",
    "expires": "The number of a turn to come. ",
    "first": "The number of a turn. ",
    "last": "The number of a turn. ",
    "finding": "The key of what a curator noticed. ",
    "number": "The number of a turn. ",
    "record": "The id of a memory. ",
    "remark": "The remark, word for word. ",
    "status": "alive, dead, or another word; +bad knee adds a condition, -bad knee ends it. ",
    "strength": "A whole number. ",
    "value": "A value; of a tracker, also a change such as +3. ",
    "verdict": "error or deliberate, or two for two names of two people. ",
    "outcome": "happened or cancelled. ",
    "when": "A time of the story's clock to come, or - for none. ",
}
"""What some fields of corrections hold."""


def _form(needs: Sequence[str], takes: Sequence[str]) -> str:
    return ", ".join((*needs, *(f"[{each}]" for each in takes)))


_ARGUMENTS: Final[Mapping[str, str]] = {
    "session": "The session, by its id or by a name that only one session has.",
    "limit": "How many at most.",
    "cursor": "The `next` of the previous answer, for what follows it.",
    "query": "What to look for, in plain words.",
    "turn": "A turn, by its number or id, or by the name of a timeline for its end. By default the turn recorded last.",
    "entity": "Its name or id.",
    "who": "A character, by name or id.",
    "about": "The number of a turn.",
    "from_turn": "The number of the first turn.",
    "to_turn": "The number of the last turn.",
    "head": "The turn at the end of the path, by its number or id, or the name of a timeline. By default the turn "
    "recorded last.",
    "dice": "Dice such as `d20` or `2d6+1`: at most 99 of at most 999 sides, and a number to add.",
    "text": "The remark, in a sentence.",
    "name": "The name of the timeline.",
    "kind": "The kind of correction.",
    "tracker": "The name of a tracker of the kind threads.",
    "thread": "The name of the quest, promise or plan.",
    "change": "The id of the change.",
    "world": "The name of a world.",
}
"""What the arguments mean, as a model reads it."""

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        "sessions", "GET /api/sessions", "read", {"limit": "limit", "cursor": "cursor"},
        "Lists the sessions: each is a story, with its id, its name and how far it was played.",
    ),
    Tool(
        "recall", "GET /api/memory/search", "read",
        {"session": "session", "query": "q", "limit": "k", "turn": "turn"},
        "Finds the remarks and the turns of the story that best answer a question, the best first.",
        {"turn": "Look only at what happened up to this turn: its number or id, or the name of a timeline. By default, "
                 "look at everything up to the turn recorded last."},
    ),
    Tool(
        "state", f"GET {_ONE}/lines", "read", _same("turn", "limit", "cursor"),
        "Tells what is true in the story at a turn, line by line, and from which turn each line comes.",
    ),
    Tool(
        "who_is", f"GET {_ONE}/entities/{{entity}}", "read", _same("entity", "turn"),
        "Describes a person, place, thing or event at a turn: names, attributes, place, things, relations, history.",
    ),
    Tool(
        "people_places_things", f"GET {_ONE}/entities", "read", _same("limit", "cursor"),
        "Lists the people, places, things and events of the story, with their ids and all their names.",
    ),
    Tool(
        "who_knows", f"GET {_ONE}/knowledge", "read", _same("who", "about", "turn", "limit", "cursor"),
        "Tells who knows what happened at a turn (give `about`), or what a character knows (give `who`). Give one of "
        "the two.",
    ),
    Tool(
        "timeline", f"GET {_ONE}/turns", "read", _same("from_turn", "to_turn", "head"),
        "Lists the turns of a path of the story: what was said, and what each changed.",
    ),
    Tool(
        "explain", f"GET {_ONE}/context", "read", _same("turn"),
        "Explains what the narrator was told at a turn, and why each piece was told or left out.",
    ),
    Tool(
        "lore", f"GET {_ONE}/lore", "read", _same("limit", "cursor"),
        "Lists the lore of the story's world, and when each entry was told to the narrator.",
    ),
    Tool("roll", "GET /api/roll", "read", {"dice": "dice"}, "Rolls dice. Nothing is recorded."),
    Tool(
        "changes", f"GET {_ONE}/changes", "read", _same("limit", "cursor"),
        "Lists the corrections of the story, by people and by curators, with the ids that undo takes.",
    ),
    Tool(
        "remember", f"POST {_ONE}/changes", "note", _same("text"),
        "Adds a remark to the story: the narrator is told it, and recall finds it. To take it back, undo the `change` "
        "that this returns, or call correct with the kind unnote and the remark word for word.",
        fixed={"kind": "note"}, needs=("text",),
    ),
    Tool(
        "fork", f"POST {_ONE}/fork", "note", _same("name", "turn"),
        "Names a timeline that ends at a turn, so that the turn can be found again. Nothing else changes.",
    ),
    Tool(
        "correct", f"POST {_ONE}/changes", "change", _same("kind", "turn", *_KINDS_OF),
        "Corrects what is known of the story, and returns a `change` for undo. Each kind takes its own fields, and may "
        f"leave out those in brackets: {'; '.join(f'{kind}: {_form(*fields)}' for kind, fields in _KINDS.items())}. "
        "People and things are given by name or id. Without `who`, it is about the player's character. unnote takes "
        "back a remark, which it quotes word for word.",
        {"turn": "The turn from which it holds, by its number or id. By default the turn recorded last."}
        | {name: f"{_VALUES.get(name, '')}For {', '.join(kinds)}." for name, kinds in _KINDS_OF.items()},
        choices={"kind": tuple(_KINDS)},
    ),
    Tool(
        "open_thread", f"POST {_ONE}/changes", "change", {**_same("tracker"), "thread": "value"},
        "Opens a quest, promise or plan in a tracker of the kind threads, for stories that have one.",
        fixed={"kind": "tracker"}, signs={"value": "+"}, needs=("tracker", "value"),
    ),
    Tool(
        "close_thread", f"POST {_ONE}/changes", "change", {**_same("tracker"), "thread": "value"},
        "Closes a quest, promise or plan that is open in a tracker of the kind threads.",
        fixed={"kind": "tracker"}, signs={"value": "-"}, needs=("tracker", "value"),
    ),
    Tool(
        "undo", f"DELETE {_ONE}/changes/{{change}}", "change", _same("change"),
        "Undoes a correction or a remark. To have it again, undo the `change` that this returns.",
        fixed={"of_story": "1"},
    ),
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
