"""The same tools in the forms that other hosts read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


FORMATS: Final[Mapping[str, Callable[[Sequence[Tool]], Any]]] = {
    "openai": lambda tools: [_openai(each) for each in tools],
    "anthropic": lambda tools: [_anthropic(each) for each in tools],
    "gemini": lambda tools: [{"functionDeclarations": [_gemini(each) for each in tools]}],
    "mcp": lambda tools: {"tools": [mcp_form(each) for each in tools]},
}
"""The forms, by name: OpenAI's ``tools``, Anthropic's ``tools``, Gemini's ``tools``, and MCP's answer to
``tools/list``."""


def manual(form: str, tools: Sequence[Tool]) -> Any:
    """Return the tools in one of ``FORMATS``, as JSON-able data."""
    return FORMATS[form](tools)
