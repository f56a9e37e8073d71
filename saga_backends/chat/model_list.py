"""Reads the list of models of a provider, and limits their number and the length of their names."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from itertools import islice
from typing import Any

from saga_core.errors import UpstreamError

MOST_MODELS = 10_000
LONGEST_MODEL = 300
"""The maximum length of a model's name. File paths on local servers are the longest names."""

_log = logging.getLogger(__name__)


def listed_models(answer: Any, host: str) -> list[str]:
    """Return the distinct valid model ids in a reply of ``/models``. Raises ``UpstreamError`` if it has no list."""
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(listed, list):
        raise UpstreamError(f"{host} lists no models under 'data'")
    ids = (each.get("id") for each in islice(listed, MOST_MODELS) if isinstance(each, Mapping))
    names = (name for name in ids if isinstance(name, str) and name.isprintable() and name.strip())
    found = list(dict.fromkeys(name for name in names if len(name) <= LONGEST_MODEL))
    if len(listed) > MOST_MODELS:
        _log.warning("%s lists %d models; those behind the first %d are left out", host, len(listed), MOST_MODELS)
    return found
