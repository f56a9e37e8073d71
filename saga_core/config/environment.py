"""``${NAME}`` and ``${NAME:-default}`` in settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_REFERENCE = re.compile(r"\$(?P<escape>\$(?=\{))|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
_WHOLE = re.compile(r"[-+]?[0-9]+\Z")
_DECIMAL = re.compile(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?\Z")


class Unset(LookupError):
    """An environment variable that is referred to, not set, and has no default."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


def refers(text: str) -> bool:
    """Whether ``text`` holds a reference."""
    return "${" in text and _REFERENCE.search(text) is not None


def expand(text: str, environ: Mapping[str, str]) -> str:
    """``text`` with its references replaced; ``$${`` stands for a plain ``${``.

    A variable that is set but empty takes the default, as in a shell. Raises ``Unset``.
    """

    def replace(match: re.Match[str]) -> str:
        if match["escape"]:
            return "$"
        value = environ.get(match["name"])
        if not value and match["default"] is not None:
            return match["default"]
        if value is None:
            raise Unset(match["name"])
        return value

    return _REFERENCE.sub(replace, text) if "${" in text else text


def expand_all(value: Any, environ: Mapping[str, str]) -> Any:
    """``value`` with every text in its lists and mappings expanded. Raises ``Unset``."""
    if isinstance(value, str):
        return expand(value, environ)
    if isinstance(value, list | tuple):
        return [expand_all(entry, environ) for entry in value]
    if isinstance(value, Mapping):
        return {key: expand_all(entry, environ) for key, entry in value.items()}
    return value


def scalar(text: str) -> Any:
    """An expanded text as the number or truth value that it spells, else as it is."""
    if _WHOLE.match(text):
        return int(text)
    if _DECIMAL.match(text):
        return float(text)
    return {"true": True, "false": False, "null": None}.get(text.lower(), text)
