"""How a model is made to answer in JSON: by a schema, else by JSON mode, else only by the text of the question.

A provider's refusals show what it does not support. Answers are parsed with the same tolerance in each case, because a
server may ignore the requested format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import define

SCHEMA, JSON_MODE, WORDS = range(3)
_REFUSAL = re.compile(r"response_?format|output_(?:config|format)|schema|grammar|json|structured|guided", re.IGNORECASE)


@define
class AnswerFormat:
    """The format that one model supports, as far as known. It starts with a schema."""

    level: int = SCHEMA

    def params(self, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request field that asks for an object of ``schema``; empty if only the question can ask for it."""
        if self.level == SCHEMA:
            form = {"name": name, "strict": True, "schema": dict(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": form}}
        return {"response_format": {"type": "json_object"}} if self.level == JSON_MODE else {}

    def learned(self, refusal: str) -> bool:
        """Lower the level after a refusal. Return whether the refusal was about the answer format."""
        if self.level == WORDS or _REFUSAL.search(refusal) is None:
            return False
        self.level += 1
        return True
