"""CheckFailed: how a check says that the store is wrong."""

from __future__ import annotations


class CheckFailed(Exception):
    """The store broke a clause. Raised, never asserted, so that ``python -O`` changes nothing."""

    def __init__(self, message: str, *, clause: str = "") -> None:
        self.clause = clause
        """The clause that was broken, where the check is about several."""
        super().__init__(message)


def require(condition: object, message: str, *, clause: str = "") -> None:
    """Raise ``CheckFailed`` unless ``condition`` holds."""
    if not condition:
        raise CheckFailed(message, clause=clause)


def shown(value: object) -> str:
    """``value`` as a failure names it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:600]}… ({len(text)} characters)"
