"""The table of doors: every path of the chat APIs, of text completion, and of their auxiliary requests.

Each path also works behind a base URL that names a session and a world. Extra slashes in a path or at its end are
ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import unquote

from aiohttp import web
from attrs import field, frozen

Api = Literal["openai", "anthropic", "google", "ollama"]
"""The format in which a door reports errors."""

_BASE = re.compile(r"(?:/+s/+(?P<s>[^/]+)(?:/+w/+(?P<sw>[^/]+))?|/+w/+(?P<w>[^/]+)(?:/+s/+(?P<ws>[^/]+))?)(?=/)")
_SLASHES = re.compile("//+")

BASES = ("", "/s/{session}", "/w/{world}", "/s/{session}/w/{world}", "/w/{world}/s/{session}")
"""The base URLs that may precede every path. They name a session and a world."""


@frozen
class Door:
    """The endpoint at a path. ``handlers`` gives the handler of each method, as ``module:function`` of this package."""

    handlers: Mapping[str, str]
    api: Api = "openai"


@frozen
class Place:
    """The door that serves a request, with the names in the request's path."""

    path: str
    """The path without the base URL."""
    door: Door
    session: str = ""
    world: str = ""
    named: Mapping[str, str] = field(factory=dict)
    """Other names in the path: ``model`` and ``verb``."""


def _both(path: str, door: Door) -> dict[str, Door]:
    """Return entries for the path with and without ``/v1``."""
    return {f"/v1{path}": door, path: door}


def _relayed(method: str, paths: str) -> dict[str, Door]:
    return dict.fromkeys(paths.split(), Door({method: "relaying:relay"}))


CHAT: Final = {
    **_both("/chat/completions", Door({"POST": "chat:chat_completions"})),
    **_both("/models", Door({"GET": "models:list_models"})),
    **_both("/responses", Door({"POST": "responses.door:responses"})),
    **_both("/messages", Door({"POST": "messages.door:messages"}, "anthropic")),
    "/v1/messages/count_tokens": Door({"POST": "counting:count_messages"}, "anthropic"),
    "/v1beta/models": Door({"GET": "models:list_models"}, "google"),
}
"""The chat APIs."""
COMPLETING: Final = dict.fromkeys(
    "/v1/completions /completions /api/v1/generate /api/extra/generate/stream /completion".split(),
    Door({"POST": "text:complete"}),
)
"""The text completion APIs."""
ASKED: Final = _relayed(
    "GET",
    "/props /health /api/v1/model /api/v1/info/version /api/extra/version /api/extra/true_max_context_length"
    " /api/v1/config/max_context_length /v1/internal/model/info",
)
"""Requests for information about the narrator's server."""
COUNTED: Final = _relayed("POST", "/api/extra/tokencount /tokenize /detokenize /v1/internal/encode")
"""Requests for the tokens of a text, from the tokenizer of the narrator's server."""
ABORT: Final = "/api/extra/abort"
PROGRESS: Final = "/api/extra/generate/check"
PASSED: Final = {
    path: Door({"POST": "passing:pass_on"})
    for each in (
        "/embeddings /moderations /audio/speech /audio/transcriptions /audio/translations /images/generations"
        " /images/edits /images/variations"
    ).split()
    for path in (f"/v1{each}", each)
}
"""Requests that are passed on to the provider."""
OLLAMA: Final = {
    "/api/generate": Door({"POST": "ollama.door:generate"}, "ollama"),
    "/api/chat": Door({"POST": "ollama.door:chat"}, "ollama"),
    "/api/tags": Door({"GET": "ollama.door:tags"}, "ollama"),
    "/api/show": Door({"POST": "ollama.door:show"}, "ollama"),
    "/api/version": Door({"GET": "ollama.door:version"}, "ollama"),
    "/api/ps": Door({"GET": "ollama.door:running"}, "ollama"),
    "/api/embed": Door({"POST": "ollama.door:embed"}, "ollama"),
    "/api/embeddings": Door({"POST": "ollama.door:embed"}, "ollama"),
}
"""Ollama's API."""

DOORS: Final[Mapping[str, Door]] = {
    **CHAT,
    **COMPLETING,
    **ASKED,
    **COUNTED,
    ABORT: Door({"POST": "text:abort"}),
    PROGRESS: Door({"POST": "text:progress"}),
    **PASSED,
    **OLLAMA,
}
"""Every fixed path. Paths with a model in them are matched separately."""
WHERE: Final = (
    "chats are at /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/MODEL:generateContent and "
    "/api/chat, text completion at /v1/completions, /api/v1/generate, /completion and /api/generate, administration "
    "under /api"
)
"""The endpoints in words, for the error message of an unknown path."""

_MODEL: Final = re.compile(r"(?:/(?P<version>v1beta|v1alpha|v1))?/(?P<model>(?:models|tunedModels)/.+)")
_ACTS: Final = {
    "generateContent": "gemini.door:generate",
    "streamGenerateContent": "gemini.door:generate",
    "countTokens": "counting:count_contents",
}
_ONE: Final = Door({"GET": "models:one_model"})
_ONE_OF_GOOGLE: Final = Door({"GET": "models:one_model"}, "google")


def _of_a_model(path: str) -> tuple[Door, dict[str, str]] | None:
    """Return the door at ``/v1/models/MODEL`` or ``/v1beta/models/MODEL:VERB``, and the names in the path."""
    found = _MODEL.fullmatch(path)
    if found is None:
        return None
    name, colon, verb = found["model"].rpartition(":")
    acts = bool(colon) and verb.isalpha() and ("Content" in verb or verb in _ACTS)  # else it is part of the name
    named = {"model": unquote(name if acts else found["model"]).removeprefix("models/")}
    if acts:
        return Door({"POST": _ACTS.get(verb, "gemini.door:refuse")}, "google"), {**named, "verb": verb}
    return _ONE if found["version"] in ("v1", None) else _ONE_OF_GOOGLE, named


def find(raw_path: str) -> Place | None:
    """Find the door for a raw (percent-encoded) request path. None if there is none."""
    base = _BASE.match(raw_path)
    session = world = ""
    rest = raw_path
    if base is not None:
        session, world = unquote(base["s"] or base["ws"] or ""), unquote(base["w"] or base["sw"] or "")
        rest = raw_path[base.end() :]
    path = _SLASHES.sub("/", rest).rstrip("/")
    door = DOORS.get(path)
    if door is not None:
        return Place(path, door, session, world)
    of_a_model = _of_a_model(path)
    return None if of_a_model is None else Place(path, of_a_model[0], session, world, of_a_model[1])


PLACE: Final = web.RequestKey("place", Place)
"""The door of a request, if its path belongs to one."""
