"""The same tools in the forms that other hosts read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from saga_server.tools.catalog import Tool


def _openai(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


def _gemini(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema}


def mcp_form(tool: Tool) -> dict[str, Any]:
    """Return a tool as MCP lists it, with hints of its risk."""
    hints = {"readOnlyHint": tool.risk == "read", "destructiveHint": tool.risk == "change", "openWorldHint": False}
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.schema, "annotations": hints}


def _utcp(tool: Tool, url: str) -> dict[str, Any]:
    address, inputs = tool.direct(url)
    call = {
        "call_template_type": "http",
        "url": address,
        "http_method": tool.endpoint.method,
        "content_type": "application/json",
        "body_field": "body",
        "auth": _UTCP_AUTH,
    }
    told = {"name": tool.name, "description": tool.description, "tags": [tool.risk]}
    return {**told, "inputs": inputs, "outputs": {"type": "object"}, "tool_call_template": call}


_UTCP_AUTH: Final = {
    "auth_type": "api_key", "api_key": "Bearer ${SAGA_KEY}", "var_name": "Authorization", "location": "header",
}  # fmt: skip

FORMATS: Final[Mapping[str, Callable[[Sequence[Tool], str], Any]]] = {
    "openai": lambda tools, url: [_openai(each) for each in tools],
    "anthropic": lambda tools, url: [_anthropic(each) for each in tools],
    "gemini": lambda tools, url: [{"functionDeclarations": [_gemini(each) for each in tools]}],
    "utcp": lambda tools, url: {
        "utcp_version": "1.0.1",
        "manual_version": version("saga-rp"),
        "tools": [_utcp(each, url) for each in tools],
    },
    "mcp": lambda tools, url: {"tools": [mcp_form(each) for each in tools]},
}
"""The forms, by name: OpenAI's ``tools``, Anthropic's ``tools``, Gemini's ``tools``, a manual of UTCP, and MCP's answer
to ``tools/list``."""


def manual(form: str, tools: Sequence[Tool], url: str = "") -> Any:
    """Return the tools in one of ``FORMATS``, as JSON-able data. ``url`` is the server's, for forms that name it."""
    return FORMATS[form](tools, url)
