"""Where the doors are: every path at which clients chat, complete text, or ask what belongs to it.

Each path also stands below a session and a world in the base URL. A slash too many, in it or at its end, is no other
path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import unquote

from aiohttp import web
from attrs import field, frozen

Api = Literal["openai", "anthropic", "google", "ollama"]
"""Whose errors a door tells."""

_BASE = re.compile(r"(?:/+s/+(?P<s>[^/]+)(?:/+w/+(?P<sw>[^/]+))?|/+w/+(?P<w>[^/]+)(?:/+s/+(?P<ws>[^/]+))?)(?=/)")
_SLASHES = re.compile("//+")

BASES = ("", "/s/{session}", "/w/{world}", "/s/{session}/w/{world}", "/w/{world}/s/{session}")
"""What may stand before every path: a session and a world in the base URL."""


@frozen
class Door:
    """What is at a path: for each method the handler, as ``module:function`` of this folder."""

    handlers: Mapping[str, str]
    api: Api = "openai"


@frozen
class Place:
    """A path that a door is at, with what it names."""

    path: str
    """Without the base."""
    door: Door
    session: str = ""
    world: str = ""
    named: Mapping[str, str] = field(factory=dict)
    """What else the path names."""


def _both(path: str, door: Door) -> dict[str, Door]:
    """With and without ``/v1``."""
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
"""The doors of chats."""
COMPLETING: Final = dict.fromkeys(
    "/v1/completions /completions /api/v1/generate /api/extra/generate/stream /completion".split(),
    Door({"POST": "text:complete"}),
)
"""The doors at which text is completed."""
ASKED: Final = _relayed(
    "GET",
    "/props /health /api/v1/model /api/v1/info/version /api/extra/version /api/extra/true_max_context_length"
    " /api/v1/config/max_context_length /v1/internal/model/info",
)
"""What the narrator's server says of itself."""
COUNTED: Final = _relayed("POST", "/api/extra/tokencount /tokenize /detokenize /v1/internal/encode")
"""The tokens of a text, as the narrator's server cuts it."""
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
"""What is passed on to the provider."""
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
"""Ollama's."""

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
"""Every path that names nothing."""
WHERE: Final = (
    "chats are at /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/MODEL:generateContent and "
    "/api/chat, text completion at /v1/completions, /api/v1/generate, /completion and /api/generate, administration "
    "under /api"
)
"""The doors in words, for who comes to a path that is none."""

_MODEL: Final = re.compile(r"(?:/(?P<version>v1beta|v1alpha|v1))?/(?P<model>(?:models|tunedModels)/.+)")
_ACTS: Final = {
    "generateContent": "gemini.door:generate",
    "streamGenerateContent": "gemini.door:generate",
    "countTokens": "counting:count_contents",
}
_ONE: Final = Door({"GET": "models:one_model"})
_ONE_OF_GOOGLE: Final = Door({"GET": "models:one_model"}, "google")


def _of_a_model(path: str) -> tuple[Door, dict[str, str]] | None:
    """The door at ``/v1/models/MODEL`` and ``/v1beta/models/MODEL:VERB``."""
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
    """The door at a request's path, as it was sent; None where there is none."""
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
"""The door at which a request is, if it is at one."""
