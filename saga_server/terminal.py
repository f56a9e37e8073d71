"""What comes from a story or a client, on a terminal: text, and nothing that moves a cursor or forges a line."""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from typing import Any

import click

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNESCAPED = re.compile(r"[\x7f-\x9f]")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


_ESCAPED = "saga.escaped"


def _escape(error: UnicodeError) -> tuple[str, int]:
    """A handler for ``codecs``: what the encoding lacks as ``\\ud55c``, which is also how JSON writes it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end


def let_everything_be_said() -> None:
    """Make stdout and stderr write out what their encoding lacks, instead of failing at it.

    Names of a story may be in any script. The console itself shows all of them, but through a pipe or into a file
    Windows encodes by the system's code page, such as cp949 or cp1252. What a code page has is left as it is.
    """
    codecs.register_error(_ESCAPED, _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors=_ESCAPED)


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
