"""Reads JSON from providers leniently, so that it can be passed on as valid JSON."""

from __future__ import annotations

import json
from typing import Any

_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
"""Replaces NaN and infinities, which are not valid JSON, by null."""


def read_text(data: str | bytes) -> Any:
    """Parse ``data``. Raises ``ValueError`` if it is not JSON or is nested too deeply."""
    text = data.decode("utf-8-sig", "replace") if isinstance(data, bytes) else data
    try:
        if text[:1] == "{":  # fast path without surrounding white space, the search for which takes as long as parsing
            value, end = _DECODER.raw_decode(text)
            if end == len(text):
                return value
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
