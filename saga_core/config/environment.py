"""``${NAME}``, ``${NAME:-default}`` and ``${file:/path}`` in settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_REFERENCE = re.compile(
    r"\$(?P<escape>\$(?=\{))|\$\{file:(?P<file>[^}]+)\}|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}"
)
_LARGEST = 65_536
_WHOLE = re.compile(r"[-+]?[0-9]+\Z")
_DECIMAL = re.compile(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?\Z")


class Unset(LookupError):
    """A referenced environment variable is not set and has no default."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class Unreadable(Exception):
    """A referenced file cannot be used. The message says why, but never includes the file's content."""


def refers(text: str) -> bool:
    """Whether ``text`` contains a reference."""
    return "${" in text and _REFERENCE.search(text) is not None


def required(text: str) -> list[str]:
    """Return the references in ``text`` without a default: names of variables, and files as ``file:/path``."""
    found = _REFERENCE.finditer(text)
    return [
        f"file:{match['file']}" if match["file"] else match["name"]
        for match in found
        if not match["escape"] and match["default"] is None
    ]


def expand(text: str, environ: Mapping[str, str]) -> str:
    """Return ``text`` with its references replaced. ``$${`` stands for a literal ``${``.

    A variable that is set but empty takes the default, as in a shell. A file is replaced by its text without trailing
    line ends. Raises ``Unset`` and ``Unreadable``.
    """

    def replace(match: re.Match[str]) -> str:
        if match["escape"]:
            return "$"
        if match["file"]:
            return _text_of(match["file"])
        value = environ.get(match["name"])
        if not value and match["default"] is not None:
            return match["default"]
        if value is None:
            raise Unset(match["name"])
        return value

    return _REFERENCE.sub(replace, text) if "${" in text else text


def _text_of(name: str) -> str:
    path = Path(name).expanduser()
    if not path.is_absolute():
        raise Unreadable(f"{name} is no whole path; give one that begins with /")
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
        text = raw.decode("utf-8").rstrip("\r\n")
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror}); fix that, or name another file") from error
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is not UTF-8 text; name another file") from None
    if len(raw) > _LARGEST:
        raise Unreadable(f"{path} is larger than {_LARGEST} bytes; name another file")
    return text


def expand_all(value: Any, environ: Mapping[str, str]) -> Any:
    """Return ``value`` with every text in its lists and mappings expanded. Raises ``Unset`` and ``Unreadable``."""
    if isinstance(value, str):
        return expand(value, environ)
    if isinstance(value, list | tuple):
        return [expand_all(entry, environ) for entry in value]
    if isinstance(value, Mapping):
        return {key: expand_all(entry, environ) for key, entry in value.items()}
    return value


def scalar(text: str) -> Any:
    """Return the number, truth value or None that an expanded text spells, else the text itself."""
    if _WHOLE.match(text):
        return int(text)
    if _DECIMAL.match(text):
        return float(text)
    return {"true": True, "false": False, "null": None}.get(text.lower(), text)
