"""Text completion as servers of local models speak it: where it is asked for, and how its replies are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import define, field

from saga_backends.chat.openai.reply import ReplyReader
from saga_core.ports import ChatPart, ChatRequest, ExtraPart, FinishPart, TextCall, TextPart, TextWire

_SHOWN = ("reasoning", "reasoning_content")
"""What is passed on besides the text. Log probabilities are not, for they tell the state block as well."""

OLLAMA_FIELDS = frozenset({"keep_alive", "format", "think", "images", "logprobs", "top_logprobs", "truncate", "shift"})
"""What stands beside Ollama's ``options``."""


def text_path(text: TextCall, base_url: str, *, streaming: bool) -> str:
    """The address of a call at a server whose ``base_url`` usually ends in ``/v1``."""
    root = server_root(base_url)
    if text.wire == "kobold":
        return f"{root}/api/extra/generate/stream" if streaming else f"{root}/api/v1/generate"
    if text.wire == "ollama":
        return f"{root}/api/generate"
    return f"{root}/completion" if text.wire == "llamacpp" else "/completions"


def server_root(base_url: str) -> str:
    """The address of a server, without the path of the OpenAI API."""
    return base_url.rstrip("/").removesuffix("/v1").rstrip("/")


def text_body(request: ChatRequest, text: TextCall, *, streaming: bool) -> dict[str, Any]:
    """The body of a request: the client's own fields, around another prompt."""
    body = {**request.params, "prompt": text.prompt}
    if text.wire == "kobold":
        return body
    if text.wire == "ollama":
        return _for_ollama(request, text, streaming=streaming)
    if request.model:
        body["model"] = request.model
    return {**body, "stream": True} if streaming else body


def _for_ollama(request: ChatRequest, text: TextCall, *, streaming: bool) -> dict[str, Any]:
    """Settings stand in ``options``; without ``stream`` a reply is streamed."""
    own = {name: value for name, value in request.params.items() if name in OLLAMA_FIELDS}
    options = {name: value for name, value in request.params.items() if name not in OLLAMA_FIELDS}
    named = {"model": request.model} if request.model else {}
    return {**own, **named, "prompt": text.prompt, "raw": True, "stream": streaming, "options": options}


@define
class TextReader(ReplyReader):
    """Turns the answer to a text completion into parts; the other wires are read as if they were OpenAI's."""

    wire: TextWire = field(default="openai", kw_only=True)
    _tells_its_end: bool = field(default=False, init=False)

    def translated(self, chunk: Any) -> Any:
        """A chunk in the form of ``/v1/completions``."""
        if not isinstance(chunk, Mapping) or self.wire == "openai" or chunk.get("error"):
            return chunk
        translate: Callable[[Mapping[str, Any]], dict[str, Any]] = _TRANSLATED[self.wire]
        found = translate(chunk)
        choices = found["choices"]
        self._tells_its_end = self._tells_its_end or any("finish_reason" in choice for choice in choices)
        return found

    def end(self) -> Iterator[ChatPart]:
        """The bill. Raises ``UpstreamError`` when the reply broke off; servers that never tell their end just end."""
        if self.wire == "kobold" and self._open and not self._tells_its_end:
            self.done = True
        yield from ReplyReader.end(self)

    def _choice(self, choice: Mapping[str, Any], position: int, place: str) -> Iterator[ChatPart]:
        index = choice.get("index")
        index = index if type(index) is int and index >= 0 else position
        self._open.add(index)
        shown = {name: choice[name] for name in _SHOWN if isinstance(choice.get(name), str) and choice[name]}
        if shown:
            yield ExtraPart(shown, index)
        if isinstance(choice.get("text"), str) and choice["text"]:
            yield TextPart(choice["text"], index)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and index not in self._closed:
            self._closed.add(index)
            yield FinishPart(reason, index)


def _kobold(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """``{"results": [{"text", "finish_reason"}]}`` in one piece, ``{"token", "finish_reason"}`` in a stream."""
    results = chunk.get("results")
    if isinstance(results, list):
        found = [
            {"index": at, "text": result.get("text"), "finish_reason": result.get("finish_reason") or "stop"}
            for at, result in enumerate(results)
            if isinstance(result, Mapping)
        ]
        counted = results[0] if results and isinstance(results[0], Mapping) else {}
        return {"choices": found, **_bill(counted.get("prompt_tokens"), counted.get("completion_tokens"))}
    if "token" not in chunk:
        return {"choices": []}
    told = {"finish_reason": chunk["finish_reason"]} if "finish_reason" in chunk else {}
    return {"choices": [{"index": 0, "text": chunk["token"], **told}]}


def _llamacpp(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """``{"content", "stop", …}``, the last one with why it stopped and what it counted."""
    reason = None
    if chunk.get("stop") is True:
        reason = "length" if chunk.get("stop_type") == "limit" or chunk.get("stopped_limit") is True else "stop"
    choices = [{"index": 0, "text": chunk.get("content"), "finish_reason": reason}] if "content" in chunk else []
    bill = _bill(chunk.get("tokens_evaluated"), chunk.get("tokens_predicted")) if reason else {}
    return {"choices": choices, **bill}


def _ollama(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """``{"response", "done", …}``, the last one with why it stopped and what it counted."""
    reason = None
    if chunk.get("done") is True:
        reason = "length" if chunk.get("done_reason") == "length" else "stop"
    thought = {"reasoning": chunk["thinking"]} if chunk.get("thinking") else {}
    choices = (
        [{"index": 0, "text": chunk["response"], "finish_reason": reason, **thought}] if "response" in chunk else []
    )
    bill = _bill(chunk.get("prompt_eval_count"), chunk.get("eval_count")) if reason else {}
    return {"choices": choices, **bill}


_TRANSLATED = {"kobold": _kobold, "llamacpp": _llamacpp, "ollama": _ollama}


def _bill(given: Any, made: Any) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": given, "completion_tokens": made}} if type(given) is int else {}
