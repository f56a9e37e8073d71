"""Formats a number of things."""

from __future__ import annotations


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a text such as ``1 session`` or ``2 sessions``. ``things`` is the plural if it needs more than an s."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
