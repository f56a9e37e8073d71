"""What comes from a story or a client, on a terminal: text, and nothing that moves a cursor or forges a line."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def harmless(text: str) -> str:
    """``text`` with U+FFFD for each control character but tab and line feed."""
    return _CONTROL.sub("\ufffd", text)


def on_one_line(text: str) -> str:
    """``text`` with every control character and end of line written out, as ``\\x1b``."""
    return _BREAKS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
