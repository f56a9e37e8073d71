"""Read and check a request for text completion, in which the prompt is one text instead of a list of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from saga_core.messages import PromptPlan
from saga_core.ports import TextCall, TextWire
from saga_core.text_prompt import TextPrompt, read_prompt, write_prompt
from saga_server.http.entry.budget import check_text
from saga_server.http.errors import RequestError
from saga_server.http.openai_schema import MAX_CHOICES, kind_of, read_json, typed

_OWN = frozenset({"prompt", "model", "stream"})
_STOPS = ("stop", "stopping_strings", "stop_sequence")
_LIMITS = ("max_tokens", "max_new_tokens", "n_predict", "num_predict", "max_length")
_WINDOWS = ("truncation_length", "max_context_length", "num_ctx")
_AS_THEY_ARE = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "n", "user")
_MOST_STOPS = 4
"""Stop sequences that chat APIs accept at most."""
_BYTES = 3
"""Bytes per token: a low estimate, as English text has about four."""
UNTOLD = "the messages of the prompt could not be told apart; it is played as one text"


@frozen
class TextAsk:
    """The prompt of a request, split into messages."""

    prompt: TextPrompt = field(repr=False)
    wire: TextWire

    def written(self, plan: PromptPlan) -> TextCall:
        """Return ``plan`` as one text again, for an upstream server that completes text."""
        return TextCall(write_prompt(plan, self.prompt), self.wire)


@frozen(kw_only=True)
class TextRequest:
    """A checked request for text completion."""

    ask: TextAsk
    model: str
    stream: bool
    choices: int
    user: str | None
    wants_usage: bool
    params: Mapping[str, Any] = field(repr=False)
    """All other fields, which are passed upstream."""
    aside: bool
    """Whether the reply is not a turn of the story: the request asks for the player's next line, or for JSON."""

    window: int = 0
    """The size of the prompt in tokens that the client allows; 0 if the request does not say."""

    @property
    def speaker(self) -> str:
        """The character who is to reply, if the prompt ends with a name behind a reply; empty otherwise.

        It is the next member of a group, or the same character once more.
        """
        prompt = self.ask.prompt
        follows = bool(prompt.opening.strip()) and prompt.messages[-1]["role"] == "assistant"
        return prompt.opening.strip() if follows and prompt.asks_for == "assistant" else ""

    @property
    def messages(self) -> list[Any]:
        """The messages of the prompt."""
        return [dict(message) for message in self.ask.prompt.messages]


def read_text(
    body: bytes, wire: TextWire, *, stream: bool | None, max_messages: int, max_text_mb: int = 16
) -> TextRequest:
    """Read the request in ``body``.

    ``stream`` is the mode that the path implies; if it is None, the field ``stream`` decides.
    Raises ``RequestError`` naming the field, the value and what is allowed.
    """
    ask = read_json(body)
    if not isinstance(ask, dict):
        raise RequestError(f"the body is a JSON {kind_of(ask)}; send an object", param="body")
    return text_request(ask, wire, stream=stream, max_messages=max_messages, max_text_mb=max_text_mb)


def text_request(
    ask: Mapping[str, Any], wire: TextWire, *, stream: bool | None, max_messages: int, max_text_mb: int = 16
) -> TextRequest:
    """Read the request in the JSON object of a body. Arguments and errors are those of ``read_text``."""
    prompt = ask.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if not isinstance(prompt, str):
        given = "missing" if "prompt" not in ask else f"a {kind_of(prompt)}"
        raise RequestError(f"prompt: {given}; send one text", param="prompt")
    if ask.get("echo"):
        raise RequestError("echo: true would tell what SAGA adds to the prompt; leave it out", param="echo")
    check_text([{"content": prompt}], max_text_mb)
    told = read_prompt(prompt, _stops(ask))
    if not any(message["content"] for message in told.messages):
        raise RequestError("prompt: no words stand in it; send the chat", param="prompt")
    if len(told.messages) > max_messages:
        raise RequestError(
            f"prompt: {len(told.messages)} messages stand in it; at most {max_messages} are taken "
            "(server.max_messages)",
            param="prompt",
            status=413,
        )
    choices = (typed(ask, "n", int, "a whole number") if wire == "openai" else None) or 1
    if not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"n: {choices} is not allowed; give 1 to {MAX_CHOICES}", param="n")
    options = typed(ask, "stream_options", dict, "an object") or {}
    streamed = (typed(ask, "stream", bool, "true or false") or False) if stream is None else stream
    own = _OWN if wire != "kobold" else frozenset({"prompt"})
    dropped = own if streamed else own | {"stream_options"}
    return TextRequest(
        ask=TextAsk(told, wire),
        model=_model(ask),
        stream=streamed,
        choices=choices,
        user=ask["user"] if isinstance(ask.get("user"), str) else None,
        wants_usage=options.get("include_usage") is True,
        params={name: value for name, value in ask.items() if name not in dropped},
        window=_window(ask),
        aside=told.asks_for == "user" or bool(ask.get("json_schema")),
    )


def _model(ask: Mapping[str, Any]) -> str:
    """Return the model's name. Frontends without a model send ``undefined`` or ``null``."""
    model = typed(ask, "model", str, "a text") or ""
    return "" if model in ("undefined", "null") else model


def _stops(ask: Mapping[str, Any]) -> list[str]:
    for name in _STOPS:
        stops = ask.get(name)
        if isinstance(stops, str):
            return [stops]
        if isinstance(stops, list) and stops:
            return [stop for stop in stops if isinstance(stop, str)]
    return []


def onward(
    ask: TextAsk | None, plan: PromptPlan, params: Mapping[str, Any], completes_text: bool
) -> tuple[Mapping[str, Any], TextCall | None]:
    """Return the settings and the text to send to a provider.

    A provider that only has a chat API gets no text, and only the settings that chat APIs have.
    """
    if ask is None:
        return params, None
    return (params, ask.written(plan)) if completes_text else (chat_params(params), None)


def _window(ask: Mapping[str, Any]) -> int:
    """Return how many tokens the prompt may have; 0 if the request does not give the size of the context.

    It is the context without the reply and without ``memory``, a text that KoboldCpp puts before the prompt.
    """
    sizes = [ask[name] for name in _WINDOWS if type(ask.get(name)) is int and ask[name] > 0]
    limits = [ask[name] for name in _LIMITS if type(ask.get(name)) is int and ask[name] > 0]
    memory = ask.get("memory")  # if both do not fit, KoboldCpp cuts off the beginning of the prompt
    front = len(memory.encode("utf-8", "surrogatepass")) // _BYTES if isinstance(memory, str) else 0
    return max(0, min(sizes) - min(limits, default=0) - front) if sizes else 0


def chat_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings of a text completion that chat APIs have as well."""
    found = {name: params[name] for name in _AS_THEY_ARE if params.get(name) is not None}
    limit = next((params[name] for name in _LIMITS if type(params.get(name)) is int and params[name] > 0), None)
    if limit is not None:
        found["max_tokens"] = limit
    stops = _stops(params)[:_MOST_STOPS]
    return {**found, "stop": stops} if stops else found
