"""``CheckFailed``, with which a check reports that the store is wrong."""

from __future__ import annotations


class CheckFailed(Exception):
    """The store broke a clause. Checks raise it instead of asserting, so ``python -O`` does not disable them."""

    def __init__(self, message: str, *, clause: str = "") -> None:
        self.clause = clause
        """The broken clause, if the check covers several. May name several, separated by spaces."""
        super().__init__(message)


def require(condition: object, message: str, *, clause: str = "") -> None:
    """Raise ``CheckFailed`` unless ``condition`` holds."""
    if not condition:
        raise CheckFailed(message, clause=clause)


def shown(value: object) -> str:
    """The ``repr`` of ``value`` for a failure message, cut to 600 characters."""
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:600]}… ({len(text)} characters)"
