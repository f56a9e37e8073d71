"""What comes from a story or a client, on a terminal: text, and nothing that moves a cursor or forges a line."""

from __future__ import annotations

import json
import re
from typing import Any

import click

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNESCAPED = re.compile(r"[\x7f-\x9f]")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def harmless(text: str) -> str:
    """``text`` with U+FFFD for each control character but tab and line feed."""
    return _CONTROL.sub("\ufffd", text)


def on_one_line(text: str) -> str:
    """``text`` with every control character and end of line written out, as ``\\x1b``."""
    return _BREAKS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def say(text: str, *, err: bool = False) -> None:
    """A command's words, on stdout or, with ``err``, on stderr: ``harmless``, for names and reasons stand in them."""
    click.echo(harmless(text), err=err)


def say_json(value: Any) -> None:
    """A command's answer as the admin API gives it. Control characters that JSON lets pass are written out."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(_UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
