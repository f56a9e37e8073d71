"""What the dialects make of a request in OpenAI's format: settings, tools, and messages of alternating voices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field

from saga_backends.json_text import inside, rows
from saga_core.language import detect, language_of
from saga_core.messages import Block
from saga_core.ports import AdjustedPart

OPENING = "[Start]"
"""The user message to insert if a history begins with a reply, such as a greeting, and the user must be first."""
SYSTEM = ("system", "developer")


def nudge(beginning: str) -> str:
    """Return the request to continue from ``beginning``, in its language."""
    return language_of(detect(beginning)).questions.nudge


@define
class Arranged:
    """A prompt in the format of an API. ``content`` is the field of a message that holds its parts."""

    content: str
    system: list[dict[str, Any]] = field(factory=list)
    messages: list[dict[str, Any]] = field(factory=list)
    beginning: str = ""
    """The beginning of the reply, if the model is asked to continue from it instead of being given a prefill."""
    adjusted: list[AdjustedPart] = field(factory=list)

    def say(self, role: str, parts: list[dict[str, Any]]) -> None:
        """Add parts of a message. Adjacent messages of the same role become one."""
        if parts and self.messages and self.messages[-1]["role"] == role:
            self.messages[-1][self.content] += parts
        elif parts:
            self.messages.append({"role": role, self.content: [*parts]})

    def leave_out(self, kind: Any) -> None:
        """Note a part of a message that the model does not take."""
        why = f"a part of kind {kind!r} is left out: the model does not take it"
        self.adjusted.append(AdjustedPart("content", why))

    def go_on(self, beginning: str, part: dict[str, Any]) -> None:
        """Ask for the rest of a reply that begins with ``beginning``. ``part`` is the request in the API's format."""
        self.beginning = beginning
        self.say("user", [part])
        why = "the model cannot be given a reply's beginning; it is asked to go on from there"
        self.adjusted.append(AdjustedPart("prefill", why))


def voice_of(block: Block) -> str:
    """Return the voice in which a message is told that is no system message."""
    return "assistant" if block.role == "assistant" else "user"


def with_speaker(text: str, name: Any) -> str:
    """Return ``text`` with the speaker's name before it, unless it begins so or there is no name."""
    if not isinstance(name, str) or not name or text.lstrip().startswith(f"{name}:"):
        return text
    return f"{name}: {text}"


def picture_url(part: Mapping[str, Any]) -> Any:
    """Return the URL of a part of type ``image_url``."""
    image = part.get("image_url")
    return image.get("url") if isinstance(image, Mapping) else image


# -- settings ----------------------------------------------------------------------------------------------------


def effort_of(made: Mapping[str, Any]) -> Any:
    """Return how much to think, as the client says it."""
    return made["reasoning_effort"] or inside(made["reasoning"], "effort")


def schema_of(form: Any) -> Mapping[str, Any] | None:
    """Return the JSON schema of a ``response_format``, or None if there is none."""
    schema = inside(form, "json_schema", "schema")
    return schema if inside(form, "type") == "json_schema" and isinstance(schema, Mapping) else None


def stops_of(given: Any) -> list[str]:
    """Return the texts at which the reply ends."""
    return [stop for stop in ([given] if isinstance(given, str) else rows(given)) if isinstance(stop, str) and stop]


# -- tools -------------------------------------------------------------------------------------------------------


def functions_of(tools: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the name and description of each tool, and the schema of its parameters."""
    for tool in rows(tools):
        function = inside(tool, "function")
        if isinstance(function, Mapping):
            about = {name: function[name] for name in ("name", "description") if function.get(name)}
            yield about, function.get("parameters")


def calls_of(calls: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the tool calls of a message, each with its function."""
    for call in rows(calls):
        function = inside(call, "function")
        if isinstance(function, Mapping):
            yield call, function


def arguments_of(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call. Anything but a JSON object is wrapped in one."""
    arguments = function.get("arguments")
    try:
        given = json.loads(arguments) if isinstance(arguments, str) and arguments else arguments or {}
    except (ValueError, RecursionError):
        given = arguments
    return given if isinstance(given, dict) else {"arguments": given}


def as_text(name: Any, arguments: Any) -> str:
    """Return a call that stands without its result as a text."""
    return f"({name}: {json.dumps(arguments, ensure_ascii=False)})"
