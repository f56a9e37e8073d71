"""The size of a server's context, as the server tells it when it is asked, or when it refuses a prompt."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from attrs import frozen

from saga_core.errors import UpstreamError

_REFUSALS = frozenset({400, 413, 422, 500, 502, 503})
"""The statuses with which servers refuse a prompt that is too long; 502 for an error without a status."""
_ABOUT = re.compile(
    r"context (?:size|length|window|limit|overflows|\d)|maximum context|n_ctx|max_seq_len|too many tokens|too long"
    r"|token limit|input length|prompt length|reduce the length|(?:prompt|input) exceeds|inputs. tokens"
    r"|tokens? .{0,30}(?:exceed|greater)|(?:exceed|greater).{0,60}tokens?|(?:prompt|input)\b.{0,40}longer than"
    r"|上下文|(?:[输輸]入|提示[词詞]?).{0,20}(?:[长長]度|[过過][长長]|tokens?)",
    re.IGNORECASE,
)
_EXCEEDS = re.compile(
    r"exceed|too (?:long|many|large)|maximum|greater|overflow|larger|longer|reduce|limit|context \d|only|does not fit"
    r"|must be|should be|[超过過][过過出长長]|超限|大[于於]|最大|上限|限制",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.:/-])\d{1,3}(?:[,_ ]\d{3})+(?!\d)|(?<![\w.:/-])\d{3,9}(?![\w:/-])", re.ASCII)
_CODE = re.compile(r"\b(?:code|errno)\W{0,4}\d{3,6}\b", re.IGNORECASE)
_BARE = re.compile(r"\(\d{3,6}\)")
"""A number alone in brackets. It is the code of the error if it is the only number and nothing is counted."""
_COUNTED = re.compile(r"token|character|令牌|字", re.IGNORECASE)
_LIMITS = (
    re.compile(r"(?:>=?|<=?|≤|\[\d{1,3}\s?[,~-]|between \d{1,3} and)\s*(?P<limit>\d[\d,_]{2,11})"),
    re.compile(
        r"(?:n_ctx|max_\w{1,20}|context(?: (?:size|length|window|limit))?|maximum|limit|at most|up to|only|longer than"
        r"|上下文|最大|上限|限制)"
        r"(?:(?!\bby\b)[^\d]){0,45}?(?P<limit>\d[\d,_]{2,11})",
        re.IGNORECASE,
    ),
)
"""A limit behind a sign of comparison or at the end of a range, and behind a word for one. A prompt exceeds it *by*
another number."""
_READ = 1_000
"""Characters of a message that are looked at."""
_LEAST = 256
"""The smallest context that is believed."""


@frozen
class ContextRefusal:
    """A prompt that was too long. The numbers are in the server's tokens; None if it does not say them."""

    limit: int | None
    used: int | None


def context_refusal(message: str, status: int) -> ContextRefusal | None:
    """What an error says about a prompt that is too long; None if it is about something else.

    The largest number is what was sent, unless it is the limit. The limit is the number that stands behind a word or a
    sign for it, else the second largest.
    """
    message = message[:_READ]
    if status not in _REFUSALS or not (_ABOUT.search(message) and _EXCEEDS.search(message)):
        return None
    message = _CODE.sub("", message)
    numbers = sorted(
        {int(re.sub(r"\D", "", each.group())) for each in _NUMBER.finditer(message)} - {status}, reverse=True
    )
    numbers = [number for number in numbers if number >= _LEAST]
    most = numbers[0] if len(numbers) > 1 else None
    if most is None and not _COUNTED.search(message):
        message = _BARE.sub("", message)
    signed, named = (
        [n for n in map(_size_in, each.finditer(message)) if n >= _LEAST and n != status] for each in _LIMITS
    )
    smaller = [number for number in named if most is None or number < most]
    limit = next(iter((*signed, *smaller, *named)), None)
    if limit is None and most is not None:
        limit = numbers[1]
    return ContextRefusal(limit, most if most is not None and limit is not None and most > limit else None)


def _size_in(found: re.Match[str]) -> int:
    return int(re.sub(r"\D", "", found["limit"]))


# -- asking ----------------------------------------------------------------------------------------------------

ANY = ""
"""Stands for every model of a server that runs a single one, whatever name a request gives it."""
_SIZES = ("loaded_context_length", "max_model_len", "max_seq_len", "context_length", "context_window", "n_ctx")
"""Keys of a model's size in lists of models, the one that is in force first: LM Studio, vLLM, TabbyAPI, OpenRouter and
others, llama.cpp."""
_INNER = ("meta", "parameters", "top_provider")
_MOST = 100_000_000
_SHOWN = 20
"""The largest number of Ollama's models that are asked about."""
_SECONDS = 5.0
_NUM_CTX = re.compile(r"^num_ctx\s+(\d{3,9})\s*$", re.MULTILINE)


class AnswersJson(Protocol):
    """A client of a chat API that also takes other requests to the same server."""

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        """Return what the server answers at a path below its base URL, or at a URL. Raises ``UpstreamError``."""
        ...


async def ask_context_sizes(client: AnswersJson, base_url: str) -> dict[str, int]:
    """Return the tokens of the context by model, as far as the server tells them. ``ANY`` is a server's only model.

    vLLM, LM Studio, TabbyAPI and others tell them in the list of models, llama.cpp at ``/props``, Ollama at ``/api/ps``
    for a model that is loaded and at ``/api/show`` for others. A server that tells nothing, or not within 5 seconds, is
    no error.
    """
    found: dict[str, int] = {}
    listed = [each for each in await _listed(client, "/models", "data") if isinstance(each.get("id"), str)]
    found |= {each["id"]: size for each in listed if (size := _size(each))}
    if len(listed) == 1 and len(found) == 1:
        found[ANY] = next(iter(found.values()))
    parts = urlsplit(base_url)
    root = urlunsplit(parts._replace(path=parts.path.rstrip("/").removesuffix("/v1"), query="", fragment=""))
    props = await _answer(client, "GET", f"{root}/props")
    settings = props.get("default_generation_settings")
    if isinstance(settings, Mapping) and (size := _believed(settings.get("n_ctx"))):
        return {ANY: size}
    if found:
        return found
    names = [
        name
        for each in await _listed(client, f"{root}/api/tags", "models")
        if isinstance(name := each.get("name"), str)
    ]
    if names:
        loaded = await _listed(client, f"{root}/api/ps", "models")
        found = {str(each.get("name")): size for each in loaded if (size := _believed(each.get("context_length")))}
        for name in names[:_SHOWN]:
            shown = found.get(name) or _shown(await _answer(client, "POST", f"{root}/api/show", {"model": name}))
            if shown:
                found |= {name: shown, name.removesuffix(":latest"): shown}
    return found


async def _answer(client: AnswersJson, method: str, path: str, body: Any = None) -> Mapping[str, Any]:
    try:
        async with asyncio.timeout(_SECONDS):
            answer = await client.json(method, path, body)
    except (UpstreamError, TimeoutError):
        return {}  # most servers know only some of the paths
    return answer if isinstance(answer, Mapping) else {}


async def _listed(client: AnswersJson, path: str, key: str) -> list[Mapping[str, Any]]:
    listed = (await _answer(client, "GET", path)).get(key)
    return [each for each in islice(listed, 1_000) if isinstance(each, Mapping)] if isinstance(listed, list) else []


def _size(model: Mapping[str, Any]) -> int:
    places = (model, *(inner for key in _INNER if isinstance(inner := model.get(key), Mapping)))
    return next((size for key in _SIZES for place in places if (size := _believed(place.get(key)))), 0)


def _shown(answer: Mapping[str, Any]) -> int:
    """The size that Ollama shows: the one that is set, else the most that the model can have."""
    told = answer.get("parameters")
    if isinstance(told, str) and (found := _NUM_CTX.search(told)):
        return _believed(int(found[1]))
    info = answer.get("model_info")
    return next(_lengths(info), 0) if isinstance(info, Mapping) else 0


def _lengths(info: Mapping[str, Any]) -> Iterator[int]:
    yield from (
        size for key, each in info.items() if str(key).endswith(".context_length") and (size := _believed(each))
    )


def _believed(size: object) -> int:
    return size if isinstance(size, int) and not isinstance(size, bool) and _LEAST <= size <= _MOST else 0
