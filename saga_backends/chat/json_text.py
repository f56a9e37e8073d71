"""Reads JSON as providers send it, so that it is valid JSON when it is passed on."""

from __future__ import annotations

import json
from typing import Any

_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
"""NaN and its like are no JSON; in their place stands null."""


def read_text(data: str | bytes) -> Any:
    """The value in ``data``. Raises ``ValueError`` for what is no JSON, or nested too deeply to be read."""
    text = data.decode("utf-8-sig", "replace") if isinstance(data, bytes) else data
    try:
        if text[:1] == "{":  # what providers send has nothing around it: looking for that takes as long as reading
            value, end = _DECODER.raw_decode(text)
            if end == len(text):
                return value
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
