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
    """An environment variable that is referred to, not set, and has no default."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class Unreadable(Exception):
    """A file that is referred to and cannot be used; the message says why, and never what is in it."""


def refers(text: str) -> bool:
    """Whether ``text`` holds a reference."""
    return "${" in text and _REFERENCE.search(text) is not None


def required(text: str) -> list[str]:
    """What ``text`` refers to and gives no default for: names of variables, and of files as ``file:/path``."""
    found = _REFERENCE.finditer(text)
    return [
        f"file:{match['file']}" if match["file"] else match["name"]
        for match in found
        if not match["escape"] and match["default"] is None
    ]


def expand(text: str, environ: Mapping[str, str]) -> str:
    """``text`` with its references replaced; ``$${`` stands for a plain ``${``.

    A variable that is set but empty takes the default, as in a shell. Of a file its text counts, without line ends
    behind it. Raises ``Unset`` and ``Unreadable``.
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
