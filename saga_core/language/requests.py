"""Case-insensitive patterns of the instructions that frontends add to requests, in the languages of their presets.

They are few, and taken literally from frontends. A language has those that occur in the presets of its players.
"""

from __future__ import annotations

from attrs import frozen

NEVER = "(?!)"
"""A pattern that never matches."""


@frozen(kw_only=True, eq=False, repr=False)
class RequestWords:
    """The instructions of one language by which a frontend requests something else than a turn of the story."""

    goes_on: str = NEVER
    """Inside a note: continue the last reply."""
    next_speaker: str = NEVER
    """Inside a note: another character speaks next."""
    line_of: str = ""
    """Inside such a note: the character whose words are requested, with NAME for the name."""
    tool: str = NEVER
    """The beginning of a system prompt that makes the model a tool and not a narrator."""
    payload: str = NEVER
    """The beginning of a message that supplies a text to process."""
    task: str = NEVER
    """The beginning of a message that is a task if no other message accompanies it."""
    nudges: tuple[str, ...] = ()
    """In brackets: continue, or let another character speak."""
    impersonation: tuple[str, ...] = ()
    """In brackets: write the player's next line."""
    errands: tuple[str, ...] = ()
    """In brackets, in place of the player's message: a task outside the story. After the player's message, such a note
    may be a standing instruction of a story that continues."""
    stops: tuple[str, ...] = ()
    """With or without brackets, also after the player's message: the story stops for a task."""
