"""What the fields of a request may hold, by API. A field of the wrong kind is refused before anything reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from saga_server.http.errors import RequestError
from saga_server.http.json_body import short


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _number(value: Any) -> bool:
    return type(value) in (int, float)


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "a text": lambda value: isinstance(value, str),
    "true or false": lambda value: isinstance(value, bool),
    "a number": _number,
    "a whole number": lambda value: _number(value) and value % 1 == 0,
    "an object": lambda value: isinstance(value, dict),
    "a list": lambda value: isinstance(value, list),
    "a list of objects": lambda value: isinstance(value, list) and all(isinstance(each, dict) for each in value),
    "a list of texts": _texts,
    "a text or a list of texts": lambda value: isinstance(value, str) or _texts(value),
    "a text or an object": lambda value: isinstance(value, str | dict),
    "a text or a list": lambda value: isinstance(value, str | list),
    "a text or a number": lambda value: isinstance(value, str) or _number(value),
    "true or false, or a text": lambda value: isinstance(value, bool | str),
    "true or false, or a whole number": lambda value: isinstance(value, bool | int),
    "true or false, or an object": lambda value: isinstance(value, bool | dict),
}


def _of(kinds: Mapping[str, str]) -> Mapping[str, str]:
    """Return the kinds by field, given the fields by kind."""
    return {name: kind for kind, names in kinds.items() for name in names.split()}


_SAMPLING = "temperature top_p min_p top_a typical_p frequency_penalty presence_penalty repetition_penalty"

CHAT: Final = _of({
    "a list of objects": "tools functions",
    "a text or an object": "tool_choice function_call",
    "a text or a list of texts": "stop",
    "an object": "response_format metadata logit_bias stream_options audio prediction web_search_options "
                 "chat_template_kwargs",
    "a number": _SAMPLING,
    "a whole number": "max_tokens max_completion_tokens seed top_k top_logprobs",
    "true or false, or a whole number": "logprobs",
    "true or false": "stream parallel_tool_calls store",
    "a text": "model user reasoning_effort verbosity service_tier prompt_cache_key safety_identifier",
    "true or false, or an object": "reasoning thinking",
    "a list of texts": "modalities",
})  # fmt: skip
"""Of OpenAI's chat completions."""

MESSAGES: Final = _of({
    "a list": "tools mcp_servers",
    "an object": "tool_choice metadata thinking output_config context_management",
    "a text or a list": "system",
    "a list of texts": "stop_sequences",
    "a number": "temperature top_p",
    "a whole number": "max_tokens top_k",
    "true or false": "stream",
    "a text": "model service_tier",
})  # fmt: skip
"""Of Anthropic's messages."""

RESPONSES: Final = _of({
    "a list": "tools",
    "a list of texts": "include",
    "a text or an object": "tool_choice conversation",
    "an object": "text reasoning metadata stream_options prompt",
    "a number": "temperature top_p",
    "a whole number": "max_output_tokens max_tool_calls top_logprobs",
    "true or false": "stream parallel_tool_calls store background",
    "a text": "model user instructions truncation service_tier previous_response_id prompt_cache_key safety_identifier",
})  # fmt: skip
"""Of OpenAI's responses."""

TEXT: Final = _of({
    "a list of objects": "tools",
    "a text or an object": "tool_choice",
    "a text or a list of texts": "stop stopping_strings stop_sequence",
    "an object": "response_format metadata stream_options",
    "a number": _SAMPLING,
    "a whole number": "max_tokens max_new_tokens n_predict num_predict max_length max_context_length "
                      "truncation_length num_ctx seed",
    "true or false, or a whole number": "logprobs",
    "true or false": "stream echo",
    "a text": "model user memory",
})  # fmt: skip
"""Of the text completions of OpenAI, KoboldAI and llama.cpp."""

OLLAMA: Final = _of({
    "a list": "messages tools context",
    "a list of texts": "images",
    "an object": "options",
    "a text or an object": "format",
    "a text or a number": "keep_alive",
    "true or false, or a text": "think",
    "true or false": "stream raw",
    "a text": "model prompt system template suffix",
})  # fmt: skip
"""Of Ollama's ``/api/chat`` and ``/api/generate``."""

OLLAMA_OPTIONS: Final = _of({
    "a text or a list of texts": "stop",
    "a number": f"{_SAMPLING} repeat_penalty",
    "a whole number": "num_ctx num_predict seed top_k num_keep repeat_last_n",
})  # fmt: skip
"""Of their ``options``."""

GEMINI: Final = _of({
    "a text or an object": "systemInstruction",
    "a list": "tools safetySettings",
    "an object": "toolConfig generationConfig labels",
    "a text": "cachedContent model",
})  # fmt: skip
"""Of Google's ``generateContent``."""

GEMINI_SETTINGS: Final = _of({
    "a number": "temperature topP topK presencePenalty frequencyPenalty",
    "a whole number": "maxOutputTokens seed logprobs",
    "a list of texts": "stopSequences responseModalities",
    "an object": "responseSchema thinkingConfig speechConfig imageConfig",
    "true or false, or an object": "responseJsonSchema",
    "true or false": "responseLogprobs enableEnhancedCivicAnswers",
    "a text": "responseMimeType mediaResolution",
})  # fmt: skip
"""Of its ``generationConfig``."""


def check_kinds(fields: Mapping[str, Any], kinds: Mapping[str, str], within: str = "") -> None:
    """Raise ``RequestError`` for a field of the wrong kind. ``within`` names the object that holds the fields."""
    for name in kinds.keys() & fields.keys():
        value, kind = fields[name], kinds[name]
        if value is not None and not _KINDS[kind](value):
            where = f"{within}.{name}" if within else name
            raise RequestError(f"{where}: {short(value)} is not allowed; give {kind} or null", param=where)
