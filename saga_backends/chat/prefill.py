"""Handles prefills and greetings for models that do not accept them directly."""

from __future__ import annotations

from saga_core.language import detect, language_of

OPENING = "[Start]"
"""The user message to insert if a history begins with a reply, such as a greeting, and the user must be first."""


def nudge(beginning: str) -> str:
    """Return the request to continue from ``beginning``, in its language."""
    return language_of(detect(beginning)).questions.nudge
