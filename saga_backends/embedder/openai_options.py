"""Checks the options of the embedder ``openai`` and completes them with known facts about the model."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen

from saga_backends.embedder.known_models import EmbeddingFacts, facts_of_model
from saga_backends.http_client import MOST_BODY
from saga_core.errors import BadInput
from saga_core.ports import Mode
from saga_core.registry import OpenOptions

ADDRESS = "https://api.openai.com/v1"
SHORTEST = 200
"""Texts of at most this many characters are not cut."""
_COMPONENT = 32
"""The maximum number of bytes that one component of a vector takes in a reply."""
_FORMATS = ("base64", "float")


@frozen
class Asked:
    """The settings of requests to the server."""

    model: str
    dimension: int
    ask_dimension: bool
    query_prefix: str
    passage_prefix: str
    batch: int
    timeout: float
    max_retries: int
    retry_seconds: float
    max_chars: int
    encoding: str

    def text(self, text: str, mode: Mode) -> str:
        """Return the text to send, with its prefix and cut to ``max_chars``."""
        return (self.query_prefix if mode == "query" else self.passage_prefix) + text[: self.max_chars]


@frozen
class OpenAIOptions:
    """The checked and completed options."""

    name: str
    host: str
    """The host and port, for messages."""
    base_url: str
    key: str | None = field(repr=False)
    """None if no key is sent."""
    baseline: float | None
    cache: int
    asked: Asked


def _text(given: dict[str, Any], name: str) -> str | None:
    value = given[name]
    if value is not None and (not isinstance(value, str) or not value):
        raise BadInput(f"recall.options.{name}: give a text")
    return value


def _prefix(given: dict[str, Any], name: str, usual: str) -> str:
    value = given[name]
    if value is None:
        return usual
    if not isinstance(value, str):
        raise BadInput(f"recall.options.{name}: {value!r} is no text; give the prefix of a text, '' for none")
    return value


def _at_least(given: dict[str, Any], name: str, least: float) -> Any:
    value = given[name]
    if value < least:
        raise BadInput(f"recall.options.{name}: {value!r} is out of range; give at least {least:g}")
    return value


def _dimension(given: dict[str, Any], model: str, facts: EmbeddingFacts) -> tuple[int, bool]:
    """Return the dimension, and whether it must be requested from the server."""
    wanted = _at_least(given, "dimension", 0) or facts.dimension
    if not wanted:
        raise BadInput(
            f"recall.options.dimension: how many components a vector of {model!r} has is not known here; give the "
            "number, which the model's page says"
        )
    if wanted > 16_384:
        raise BadInput(f"recall.options.dimension: {wanted} is out of range; give 1 to 16384")
    other = bool(facts.dimension) and wanted != facts.dimension
    if other and not facts.shortens:
        raise BadInput(
            f"recall.options.dimension: {wanted} is not what {model!r} gives; leave it out, or give {facts.dimension}"
        )
    if other and wanted > facts.dimension:
        raise BadInput(f"recall.options.dimension: {model!r} gives {facts.dimension} at most, not {wanted}")
    return wanted, bool(given["ask_dimension"]) or other


def _host(base_url: str | None) -> str:
    try:
        parts = urlsplit(base_url or ADDRESS)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        raise BadInput("recall.options.base_url: give a URL such as http://127.0.0.1:11434/v1") from None


def read_options(options: OpenOptions) -> OpenAIOptions:
    """Check and complete the options. Raises ``BadInput`` with the name of the option, but never with a key."""
    given = options.take(
        name="openai",
        model=None,
        base_url=None,
        api_key=None,
        dimension=0,
        ask_dimension=False,
        query_prefix=None,
        passage_prefix=None,
        baseline=None,
        batch=64,
        timeout=20.0,
        max_retries=4,
        retry_seconds=10.0,
        max_chars=6_000,
        encoding="base64",
        cache=512,
    )
    model, base_url, api_key = (_text(given, name) for name in ("model", "base_url", "api_key"))
    if model is None:
        raise BadInput("recall.options.model: which embedding model? Give it here, or as models.embedding")
    if given["encoding"] not in _FORMATS:
        raise BadInput(f"recall.options.encoding: {given['encoding']!r} is neither of {', '.join(_FORMATS)}")
    host = _host(base_url)
    key = api_key
    if base_url is None:  # the key from the environment is only sent to OpenAI itself
        key = api_key or os.environ.get("OPENAI_API_KEY")
    if not key and base_url is None:
        raise BadInput(
            "recall.options.api_key: none is given, and OPENAI_API_KEY is not set; give it or recall.options.base_url"
        )
    facts = facts_of_model(model)
    dimension, ask = _dimension(given, model, facts)
    return OpenAIOptions(
        given["name"],
        host,
        base_url or ADDRESS,
        key,
        _baseline(given["baseline"], facts),
        int(_at_least(given, "cache", 0)),
        Asked(
            model,
            dimension,
            ask,
            _prefix(given, "query_prefix", facts.query),
            _prefix(given, "passage_prefix", facts.passage),
            min(int(_at_least(given, "batch", 1)), max(1, MOST_BODY // (dimension * _COMPONENT))),
            float(_at_least(given, "timeout", 0.01)),
            int(_at_least(given, "max_retries", 0)),
            float(_at_least(given, "retry_seconds", 0.0)),
            int(_at_least(given, "max_chars", SHORTEST)),
            given["encoding"],
        ),
    )


def _baseline(given: Any, facts: EmbeddingFacts) -> float | None:
    if given is None:
        return facts.baseline
    if type(given) not in (int, float) or not 0.0 <= given < 1.0:
        raise BadInput(f"recall.options.baseline: {given!r} is no cosine; give a number from 0 to below 1")
    return float(given)
