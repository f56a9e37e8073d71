"""Processes of one machine that share a journal. They know for certain whether one of them has ended."""

from __future__ import annotations

from typing import Protocol


class Siblings(Protocol):
    """Tells which processes are alive. A server is identified by its name and the token of its process."""

    def announce(self, server: str) -> None:
        """Announce this process as ``server``, until it ends."""
        ...

    def is_gone(self, server: str) -> bool:
        """Whether the process of ``server`` has ended for any reason, so that it no longer writes.

        False for a process that hangs or is stopped. Its parent process ends it.
        """
        ...
