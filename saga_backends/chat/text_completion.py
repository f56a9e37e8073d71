"""Text completion with servers of local models, including their addresses, requests and replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field

from saga_backends.chat.dialect import Outgoing, Pieces, usage_of
from saga_core.ports import ChatPart, ChatRequest, ExtraPart, FinishPart, TextCall, TextPart, TextWire

_SHOWN = ("reasoning", "reasoning_content")
"""Fields that are passed on besides the text. Log probabilities are not, because they reveal the state block."""

OLLAMA_FIELDS = frozenset({"keep_alive", "format", "think", "images", "logprobs", "top_logprobs", "truncate", "shift"})
"""Fields that Ollama expects beside ``options``, not inside."""


def text_outgoing(request: ChatRequest, text: TextCall, base_url: str, *, streaming: bool) -> Outgoing:
    """Build a request, which has the client's fields with the new prompt."""
    return Outgoing(text_path(text, base_url, streaming=streaming), text_body(request, text, streaming=streaming))


def text_path(text: TextCall, base_url: str, *, streaming: bool) -> str:
    """Return the address of a call, given the server's ``base_url``, which usually ends in ``/v1``."""
    root = server_root(base_url)
    if text.wire == "kobold":
        return f"{root}/api/extra/generate/stream" if streaming else f"{root}/api/v1/generate"
    if text.wire == "ollama":
        return f"{root}/api/generate"
    return f"{root}/completion" if text.wire == "llamacpp" else "/completions"


def server_root(base_url: str) -> str:
    """Return the address of a server without the path of the OpenAI API."""
    return base_url.rstrip("/").removesuffix("/v1").rstrip("/")


def text_body(request: ChatRequest, text: TextCall, *, streaming: bool) -> dict[str, Any]:
    """Return the body of a request, which has the client's fields with the new prompt."""
    body = {**request.params, "prompt": text.prompt}
    if text.wire == "kobold":
        return body
    if text.wire == "ollama":
        return _for_ollama(request, text, streaming=streaming)
    if request.model:
        body["model"] = request.model
    return {**body, "stream": True} if streaming else body


def _for_ollama(request: ChatRequest, text: TextCall, *, streaming: bool) -> dict[str, Any]:
    """Return the body for Ollama. Settings are in ``options``. ``stream`` is always sent, as its default is true."""
    own = {name: value for name, value in request.params.items() if name in OLLAMA_FIELDS}
    options = {name: value for name, value in request.params.items() if name not in OLLAMA_FIELDS}
    named = {"model": request.model} if request.model else {}
    return {**own, **named, "prompt": text.prompt, "raw": True, "stream": streaming, "options": options}


@define
class TextPieces(Pieces):
    """Turns the reply of a text completion into parts. Other wire formats are translated to OpenAI's first."""

    wire: TextWire
    _begun: bool = field(default=False, init=False)
    _tells_its_end: bool = field(default=False, init=False)

    @property
    def shape(self) -> tuple[str, ...]:
        """The fields of a reply in this wire format."""
        return _SHAPES[self.wire]

    def read(self, value: Mapping[str, Any], *, whole: bool) -> Iterator[ChatPart]:
        """Yield the parts of a chunk, or of a whole completion."""
        translate = _TRANSLATED.get(self.wire)
        chunk = value if translate is None else translate(value)
        bill = chunk.get("usage")
        if isinstance(bill, Mapping):
            self.usage = usage_of(bill)
        choices = chunk.get("choices")
        for position, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, Mapping):
                self._begun = True
                self._tells_its_end = self._tells_its_end or "finish_reason" in choice
                index = choice.get("index")
                yield from _choice(choice, index if type(index) is int and index >= 0 else position)

    def end(self) -> Iterator[ChatPart]:
        """Yield the usage. Some KoboldCpp servers never report the end of a reply; the end of the stream is enough."""
        if self.wire == "kobold" and self._begun and not self._tells_its_end:
            yield FinishPart("stop")
        yield from super().end()


def _choice(choice: Mapping[str, Any], index: int) -> Iterator[ChatPart]:
    shown = {name: choice[name] for name in _SHOWN if isinstance(choice.get(name), str) and choice[name]}
    if shown:
        yield ExtraPart(shown, index)
    if isinstance(choice.get("text"), str) and choice["text"]:
        yield TextPart(choice["text"], index)
    reason = choice.get("finish_reason")
    if isinstance(reason, str) and reason:
        yield FinishPart(reason, index)


def _kobold(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """``{"results": [{"text", "finish_reason"}]}`` for a whole reply, ``{"token", "finish_reason"}`` in a stream."""
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
    """``{"content", "stop", …}``. The last chunk has the reason for stopping and the token counts."""
    reason = None
    if chunk.get("stop") is True:
        reason = "length" if chunk.get("stop_type") == "limit" or chunk.get("stopped_limit") is True else "stop"
    choices = [{"index": 0, "text": chunk.get("content"), "finish_reason": reason}] if "content" in chunk else []
    bill = _bill(chunk.get("tokens_evaluated"), chunk.get("tokens_predicted")) if reason else {}
    return {"choices": choices, **bill}


def _ollama(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """``{"response", "done", …}``. The last chunk has the reason for stopping and the token counts."""
    reason = None
    if chunk.get("done") is True:
        reason = chunk.get("done_reason") or "stop"
    thought = {"reasoning": chunk["thinking"]} if chunk.get("thinking") else {}
    choices = (
        [{"index": 0, "text": chunk["response"], "finish_reason": reason, **thought}] if "response" in chunk else []
    )
    bill = _bill(chunk.get("prompt_eval_count"), chunk.get("eval_count")) if reason else {}
    return {"choices": choices, **bill}


_SHAPES: Mapping[TextWire, tuple[str, ...]] = {
    "openai": ("choices",),
    "kobold": ("results", "token"),
    "llamacpp": ("content",),
    "ollama": ("response",),
}
_TRANSLATED = {"kobold": _kobold, "llamacpp": _llamacpp, "ollama": _ollama}


def _bill(given: Any, made: Any) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": given, "completion_tokens": made}} if type(given) is int else {}
