"""A frontend's own instructions, in the languages that people write them in. Patterns in which case counts for nothing.

They are few, and known from frontends as they are: a language has those that its players' presets have.
"""

from __future__ import annotations

from attrs import frozen

NEVER = "(?!)"
"""A pattern that nothing fits."""


@frozen(kw_only=True, eq=False, repr=False)
class RequestWords:
    """How a frontend asks for what is no turn of the story."""

    goes_on: str = NEVER
    """Somewhere in a note: the last reply is to be continued."""
    next_speaker: str = NEVER
    """Somewhere in a note: somebody else is to speak."""
    line_of: str = ""
    """In such a note: whose words are asked for, with NAME for the name."""
    tool: str = NEVER
    """The beginning of a system prompt that makes the model a tool and not a narrator."""
    payload: str = NEVER
    """The beginning of words that bring a text to work on."""
    task: str = NEVER
    """The beginning of words that, all alone, are a task."""
    nudges: tuple[str, ...] = ()
    """In brackets: go on, or pass the word."""
    impersonation: tuple[str, ...] = ()
    """In brackets: the player's next line is asked for."""
    errands: tuple[str, ...] = ()
    """In brackets, in place of the player's words: something that is no part of the story. Behind them such a note may
    be one that stands there at every turn, of a story that goes on."""
    stops: tuple[str, ...] = ()
    """With brackets or without, also behind the player's words: the story does not go on."""
