"""Processes of one machine that share a journal: whether one of them is gone is known there, and not guessed."""

from __future__ import annotations

from typing import Protocol


class Siblings(Protocol):
    """Tells processes that live from those that are gone. A server is named by its name with the process's token."""

    def announce(self, server: str) -> None:
        """This process is ``server``, until it ends."""
        ...

    def is_gone(self, server: str) -> bool:
        """Whether the process of ``server`` has ended, by whatever cause: then it writes nothing any more.

        False for one that hangs or is stopped: whoever started it ends it.
        """
        ...
