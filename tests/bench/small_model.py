"""A stand-in for a small model: it extracts and curates as one would, and reports the tokens of each call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from attrs import define

from saga_core.ports import ChatPart, ChatRequest, ExtraPart, FinishPart, TextPart, Usage, UsagePart
from saga_core.state_block import BlockFields
from tests.blocks import render_block

MODEL = "claude-haiku-5-5"
_NOTED = (
    "The story went on as it had begun: " + "roads were walked, people were met, things were found and lost again. " * 6
)


@define(eq=False)
class SmallModel:
    """With tools, it writes a note to memory, and finishes once the prompt has that note.

    Without tools, it replies with a state block that reports a change.
    """

    count: Callable[[str], int]
    name: str = "small"

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """Yield the reply in one piece, and its usage. Such prompts do not repeat, so a cache would not be read."""
        tools, asked = request.params.get("tools"), request.plan.text()
        said = render_block(BlockFields(hp_change=-1, mood="calm")) if not tools else ""
        if tools:
            name, given = ("finish", {}) if _NOTED[:60] in asked else ("memory_replace", _memory())
            call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            yield ExtraPart({"tool_calls": [call]})
            said = json.dumps(call)
        else:
            yield TextPart(said)
        yield FinishPart("stop")
        sent = self.count(asked) + (self.count(json.dumps(tools)) if tools else 0)
        yield UsagePart(Usage(sent, self.count(said)))

    async def models(self) -> list[str]:
        """The model's own name."""
        return [self.name]

    async def aclose(self) -> None:
        """Do nothing, as the model holds no resources."""


def _memory() -> dict[str, Any]:
    return {"block": "narrative_summary", "text": _NOTED}
