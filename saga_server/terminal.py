"""Prints text of stories and clients on a terminal, without control characters that move the cursor or forge lines."""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from typing import Any

import click

_TURNS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that turn the direction of the text around them."""
_CONTROL = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_TURNS}]")
_UNESCAPED = re.compile(rf"[\x7f-\x9f{_TURNS}]")
_BREAKS = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{_TURNS}]")


_ESCAPED = "saga.escaped"


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Error handler for ``codecs``: writes characters that the encoding lacks as ``\\ud55c``, as JSON does."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end


def let_everything_be_said() -> None:
    """Make stdout and stderr escape characters that their encoding lacks, instead of failing.

    Names in a story may be in any script. The console can show all of them, but for pipes and files Windows uses the
    system's code page, such as cp949 or cp1252. Characters in the code page are written unchanged.
    """
    codecs.register_error(_ESCAPED, _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors=_ESCAPED)


def harmless(text: str) -> str:
    """Replace each control character in ``text`` except tab and line feed by U+FFFD, and those of direction too."""
    return _CONTROL.sub("\ufffd", text)


def on_one_line(text: str) -> str:
    """Escape each control character, line break and character of direction in ``text``, such as ``\\x1b``."""
    return _BREAKS.sub(
        lambda found: f"\\x{ord(found[0]):02x}" if found[0] < "\u0100" else f"\\u{ord(found[0]):04x}", text
    )


def say(text: str, *, err: bool = False) -> None:
    """Print the output of a command on stdout, or with ``err`` on stderr.

    The text is made ``harmless``, because it may contain names and messages from outside.
    """
    click.echo(harmless(text), err=err)


def say_json(value: Any) -> None:
    """Print a value as JSON, as the admin API answers it. Control characters that JSON allows are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(_UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a text such as ``1 session`` or ``2 sessions``. ``things`` is the plural if it needs more than an s."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
