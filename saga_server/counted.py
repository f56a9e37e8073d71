"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, thing: str, things: str = "") -> str:
    """``1 session``, ``2 sessions``; ``things`` where an ``s`` does not do."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
