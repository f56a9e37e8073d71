"""How an oracle says no."""

from __future__ import annotations


class Refusal(Exception):
    """The store should raise ``error``, a name of ``saga_core.errors``."""

    def __init__(self, error: str, key: tuple[str, ...] | None = None) -> None:
        self.error = error
        self.key = key
        super().__init__(error)


def points(text: str) -> list[int]:
    """``text`` as its code points, by which names are ordered."""
    return [ord(sign) for sign in text]
