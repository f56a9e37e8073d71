"""Retries with exponential backoff."""

from __future__ import annotations

from attrs import frozen

_DOUBLINGS = 16


@frozen
class Retry:
    """Exponential backoff. ``first`` and ``longest`` are seconds."""

    first: float = 0.5
    longest: float = 60.0

    def pause(self, failures: int, asked: float = 0.0) -> float:
        """Return the pause in seconds after ``failures`` failures in a row.

        It is at least the ``asked`` seconds of a provider, but never more than ``longest``.
        """
        doubled = self.first * 2.0 ** min(max(failures, 1) - 1, _DOUBLINGS)
        return min(self.longest, max(doubled, asked))
