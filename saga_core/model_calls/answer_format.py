"""How a model is held to JSON: by a schema, where it takes none by JSON mode, else by the words of the question alone.

What a provider does not take is learned from its refusal. What comes back is read with the same tolerance in each case:
a server may well ignore what it was asked for.
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
    """What one model takes, as far as it is known. Begins with a schema."""

    level: int = SCHEMA

    def params(self, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The field of a request that asks for an object of ``schema``; nothing where the words have to do."""
        if self.level == SCHEMA:
            form = {"name": name, "strict": True, "schema": dict(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": form}}
        return {"response_format": {"type": "json_object"}} if self.level == JSON_MODE else {}

    def learned(self, refusal: str) -> bool:
        """Take from a refusal that less has to do; whether it was about the form of answers."""
        if self.level == WORDS or _REFUSAL.search(refusal) is None:
            return False
        self.level += 1
        return True
