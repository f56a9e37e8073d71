"""The error of an oracle, and the order of names."""

from __future__ import annotations


class Refusal(Exception):
    """The store should raise ``error``, the name of a class in ``saga_core.errors``."""

    def __init__(self, error: str, key: tuple[str, ...] | None = None) -> None:
        self.error = error
        self.key = key
        super().__init__(error)


def points(text: str) -> list[int]:
    """The code points of ``text``. Names are ordered by them."""
    return [ord(sign) for sign in text]
