"""A client's request in one form, whatever API it came in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from saga_core.messages import PromptPlan
from saga_core.ports import TextCall, TextWire
from saga_core.text_prompt import TextPrompt, read_prompt, write_prompt
from saga_server.http.errors import RequestError
from saga_server.http.field_kinds import TEXT, check_kinds
from saga_server.http.json_body import check_text, kind_of, read_json, typed
from saga_server.http.reply_format import ReplyFormat

MAX_CHOICES = 16
"""Replies that one request may ask for."""
LIMITS = ("max_tokens", "max_new_tokens", "n_predict", "num_predict", "max_length")
"""The names that text completion APIs have for the longest reply."""
_STOPS = ("stop", "stopping_strings", "stop_sequence")
_OF_CHATS = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "n", "user")
_MOST_STOPS = 4
"""Stop sequences that chat APIs accept at most."""


@frozen(kw_only=True)
class Incoming:
    """What a door reads: the body of a request, what its address says, and the limits of the settings.

    It is read in another thread or process if the body is large.
    """

    body: bytes = field(default=b"", repr=False)
    path: str = ""
    """The path without the base URL."""
    named: Mapping[str, str] = field(factory=dict)
    """The names in the path, such as a model's."""
    query: Mapping[str, str] = field(factory=dict)
    max_messages: int = 10_000
    max_text_mb: int = 16

    def json(self) -> Any:
        """Return the JSON value in the body. Raises ``RequestError``."""
        return read_json(self.body)

    def fields(self) -> dict[str, Any]:
        """Return the JSON object in the body. Raises ``RequestError``."""
        found = self.json()
        if not isinstance(found, dict):
            raise RequestError(f"the body is a JSON {kind_of(found)}; send an object", param="body")
        return found

    def check_count(self, count: int, param: str, words: str = "given") -> None:
        """Raise ``RequestError`` if there are more messages than ``server.max_messages``.

        The error names the field ``param``, which holds them.
        """
        if count > self.max_messages:
            raise RequestError(
                f"{param}: {count} {words}; at most {self.max_messages} are taken (server.max_messages)",
                param=param,
                status=413,
            )


@frozen(kw_only=True)
class ClientRequest:
    """A chat or a text completion, as a door reads it.

    The engine checks the content of the messages. The server checks how much text they hold.
    """

    messages: list[Any] = field(repr=False)
    """In the format of OpenAI's chat API, like ``params``."""
    reply: Callable[[str], ReplyFormat]
    """Makes the format of the reply, given the model's name."""
    model: str = ""
    stream: bool = False
    params: Mapping[str, Any] = field(factory=dict, repr=False)
    """The settings and tools, which are passed on to the provider."""
    choices: int = 1
    user: str | None = None
    """The field ``user``, which names the session if ``session.identify`` says so."""
    wants_usage: bool = True
    """Whether a stream tells the token counts at its end."""
    window: int = 0
    """The size of the prompt in tokens that the client allows; 0 if the request does not say."""
    nameless: bool = False
    """Whether clients of this API need not name a model: the request then goes to the narrator."""
    text: TextCompletion | None = None
    """The prompt of a text completion, of which ``messages`` are made."""

    @property
    def aside(self) -> bool:
        """Whether the reply is not a turn of the story: a program wants JSON or a tool call, or the player's next line.

        Trackers and other extensions that ask about the story send such requests; a narrator's reply is text.
        """
        if self.text is not None and (self.text.prompt.asks_for == "user" or self.params.get("json_schema")):
            return True
        form, choice = self.params.get("response_format"), self.params.get("tool_choice")
        if isinstance(form, Mapping) and form.get("type") in ("json_schema", "json_object"):
            return True
        return isinstance(choice, Mapping) or choice == "required"

    @property
    def tools(self) -> bool:
        """Whether the model may call tools."""
        return bool(self.params.get("tools")) and self.params.get("tool_choice") != "none"


# -- parts of OpenAI's messages --------------------------------------------------------------------------------


def tool_call(number: Any, name: Any, arguments: str) -> dict[str, Any]:
    """Return a tool call of a message. ``number`` is its id."""
    function = {"name": str(name or ""), "arguments": arguments}
    return {"id": str(number or ""), "type": "function", "function": function}


def function_tool(name: Any, **about: Any) -> dict[str, Any]:
    """Return a tool, or with a name alone the choice of one."""
    return {"type": "function", "function": {"name": name, **about}}


def image(url: str, **about: Any) -> dict[str, Any]:
    """Return a picture as a part of a message. ``url`` may hold the picture itself (``data:…``)."""
    return {"type": "image_url", "image_url": {"url": url, **about}}


def json_form(schema: Any) -> dict[str, Any]:
    """Return the setting that demands JSON: of a schema, or of any kind."""
    if schema is None:
        return {"response_format": {"type": "json_object"}}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}


# -- text completion -------------------------------------------------------------------------------------------


@frozen
class TextCompletion:
    """The prompt of a text completion, split into messages."""

    prompt: TextPrompt = field(repr=False)
    wire: TextWire
    """The API whose settings the request has."""

    @property
    def speaker(self) -> str:
        """The character who is to reply, if the prompt ends with a name behind a reply; empty otherwise.

        It is the next member of a group, or the same character once more.
        """
        follows = bool(self.prompt.opening.strip()) and self.prompt.messages[-1]["role"] == "assistant"
        return self.prompt.opening.strip() if follows and self.prompt.asks_for == "assistant" else ""

    def onward(
        self, plan: PromptPlan, params: Mapping[str, Any], completes_text: bool
    ) -> tuple[Mapping[str, Any], TextCall | None]:
        """Return the settings and the text to send to a provider.

        A provider that only has a chat API gets no text, and only the settings that chat APIs have.
        """
        if completes_text:
            return params, TextCall(write_prompt(plan, self.prompt), self.wire)
        return chat_params(params), None


def chat_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings of a text completion that chat APIs have as well."""
    found = {name: params[name] for name in _OF_CHATS if params.get(name) is not None}
    limit = next((params[name] for name in LIMITS if type(params.get(name)) is int and params[name] > 0), None)
    if limit is not None:
        found["max_tokens"] = limit
    stops = stops_of(params)[:_MOST_STOPS]
    return {**found, "stop": stops} if stops else found


def stops_of(params: Mapping[str, Any]) -> list[str]:
    """Return the stop sequences of a text completion, under whatever name it has them."""
    for name in _STOPS:
        stops = params.get(name)
        if isinstance(stops, str):
            return [stops]
        if isinstance(stops, list) and stops:
            return [stop for stop in stops if isinstance(stop, str)]
    return []


_OF_TEXTS = frozenset({"prompt", "model", "stream"})
_WINDOWS = ("truncation_length", "max_context_length", "num_ctx")
_TOKEN_BYTES = 3
"""Bytes per token: a low estimate, as English text has about four."""


def read_text(
    incoming: Incoming,
    fields: Mapping[str, Any],
    wire: TextWire,
    reply: Callable[[str], ReplyFormat],
    *,
    stream: bool | None = None,
) -> ClientRequest:
    """Read a request for text completion. ``fields`` are those of its body, in the API ``wire``.

    ``stream`` is the mode that the path implies; if it is None, the field ``stream`` decides.
    Raises ``RequestError`` naming the field, the value and what is allowed.
    """
    check_kinds(fields, TEXT)
    prompt = fields.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if not isinstance(prompt, str):
        found = "missing" if "prompt" not in fields else f"a {kind_of(prompt)}"
        raise RequestError(f"prompt: {found}; send one text", param="prompt")
    if fields.get("echo"):
        raise RequestError("echo: true would tell what SAGA adds to the prompt; leave it out", param="echo")
    check_text([{"content": prompt}], incoming.max_text_mb)
    read = read_prompt(prompt, stops_of(fields))
    if not any(message["content"] for message in read.messages):
        raise RequestError("prompt: no words stand in it; send the chat", param="prompt")
    incoming.check_count(len(read.messages), "prompt", "messages stand in it")
    choices = (typed(fields, "n", int) if wire == "openai" else None) or 1
    if not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"n: {choices} is not allowed; give 1 to {MAX_CHOICES}", param="n")
    options = fields.get("stream_options") or {}
    streamed = (fields.get("stream") or False) if stream is None else stream
    own = _OF_TEXTS if wire != "kobold" else frozenset({"prompt"})
    dropped = own if streamed else own | {"stream_options"}
    return ClientRequest(
        messages=[dict(message) for message in read.messages],
        reply=reply,
        model=_model(fields),
        stream=streamed,
        params={name: value for name, value in fields.items() if name not in dropped},
        choices=choices,
        user=fields.get("user"),
        wants_usage=options.get("include_usage") is True,
        window=_window(fields),
        nameless=True,
        text=TextCompletion(read, wire),
    )


def _model(fields: Mapping[str, Any]) -> str:
    """Return the model's name. Frontends without a model send ``undefined`` or ``null``."""
    model = fields.get("model") or ""
    return "" if model in ("undefined", "null") else model


def _window(fields: Mapping[str, Any]) -> int:
    """Return how many tokens the prompt may have; 0 if the request does not give the size of the context.

    It is the context without the reply and without ``memory``, a text that KoboldCpp puts before the prompt.
    """
    sizes = [fields[name] for name in _WINDOWS if type(fields.get(name)) is int and fields[name] > 0]
    limits = [fields[name] for name in LIMITS if type(fields.get(name)) is int and fields[name] > 0]
    memory = fields.get("memory")  # if both do not fit, KoboldCpp cuts off the beginning of the prompt
    front = len(memory.encode("utf-8", "surrogatepass")) // _TOKEN_BYTES if isinstance(memory, str) else 0
    return max(0, min(sizes) - min(limits, default=0) - front) if sizes else 0
