"""A chat as SillyTavern 1.19 sends it: the order of its messages, and what its post-processing makes of them.

Behind the history stands the nudge of a group, then the post-history instructions, then the reply that is to go on with
its nudge, or an instruction that no player wrote. ``merge`` joins neighbours of one role; ``semi`` and ``strict`` also
leave the role of the system to the first message; ``single`` makes one message of the user of it all. Beside these,
as other frontends have it: ``one`` makes such a message of all but the first prompt, and ``marked`` gives the system's
messages to the user, with a mark.
"""

from __future__ import annotations

from typing import Any

from attrs import define, field

Messages = list[dict[str, Any]]
MODES = ("none", "merge", "semi", "strict", "single", "one", "marked")
ONE_MESSAGE = ("single", "one")
CONTINUE = "[Continue your last message without repeating its original content.]"


@define
class Line:
    """A message of the chat: who says it, what, and whether it is the player."""

    name: str
    text: str
    player: bool = False
    thoughts: str = ""
    """What the model thought before it, as it is sent with ``thoughts``."""


@define(kw_only=True)
class SillyTavern:
    """A chat, its prompts and its settings."""

    mode: str
    char: str
    user: str
    system: str
    after: str = ""
    """The post-history instructions; "" for none, as in the preset that is there at first."""
    group: bool = False
    """Whether the replies have their speakers' names in front."""
    thoughts: bool = False
    """Whether thoughts are sent back, in front of their messages."""
    lines: list[Line] = field(factory=list)

    def turn(self, speaker: str = "") -> Messages:
        """Send, or swipe, or the next member's turn: ``speaker`` in a group."""
        return self.sent(self._behind(speaker))

    def go_on(self, *, nudge: str = CONTINUE, prefill: bool = False, speaker: str = "", postfix: str = " ") -> Messages:
        """Continue the last message, with a nudge or as the unfinished text that the reply begins with."""
        *before, last = self.lines
        behind = [*self._behind(speaker), ("assistant", self._text(last) + (postfix if prefill else ""))]
        return self.sent(behind if prefill else [*behind, ("system", nudge)], before)

    def quiet(self, prompt: str, speaker: str = "") -> Messages:
        """An instruction behind everything else: ``/gen``, a summary, a picture's description, a mood."""
        return self.sent([*self._behind(speaker), ("system", prompt)])

    def impersonate(self, prompt: str = "") -> Messages:
        """Ask for the player's next line. Of the group's nudge there is none."""
        asked = prompt or (
            f"[Write your next reply from the point of view of {self.user}, using the chat history so far as a "
            f"guideline for the writing style of {self.user}. Don't write as {self.char} or system.]"
        )
        return self.sent([*self._behind(""), ("system", asked)])

    def _text(self, line: Line) -> str:
        thought = f"<think>\n{line.thoughts}\n</think>\n\n" if self.thoughts and line.thoughts else ""
        return f"{line.name}: {thought}{line.text}" if self.group else f"{thought}{line.text}"

    def _behind(self, speaker: str) -> list[tuple[str, str]]:
        nudge = [("system", f"[Write the next reply only as {speaker}.]")] if self.group and speaker else []
        return [*nudge, *([("system", self.after)] if self.after else [])]

    def sent(self, behind: list[tuple[str, str]], lines: list[Line] | None = None) -> Messages:
        """The request's messages, with ``behind`` after the history."""
        said = [
            ("user" if line.player else "assistant", self._text(line))
            for line in (self.lines if lines is None else lines)
        ]
        prompt = [("system", self.system), ("system", "[Start a new Chat]")]
        return self._processed([*prompt, *said, *behind])

    def _processed(self, parts: list[tuple[str, str]]) -> Messages:
        if self.mode in ONE_MESSAGE:
            kept = parts[:1] if self.mode == "one" else []
            parts = [*kept, *(("user", self._named(role, text)) for role, text in parts[len(kept) :])]
        if self.mode == "marked":
            parts = [("user", f"system: {text}") if role == "system" else (role, text) for role, text in parts]
        if self.mode != "none":
            parts = _merged(parts)
        if self.mode in ("semi", "strict"):
            parts = _merged(
                [("user" if at and role == "system" else role, text) for at, (role, text) in enumerate(parts)]
            )
        if self.mode == "strict" and len(parts) > 1 and parts[1][0] != "user":
            parts.insert(1, ("user", "[Start a new chat]"))
        return [{"role": role, "content": text} for role, text in parts]

    def _named(self, role: str, text: str) -> str:
        name = {"assistant": self.char, "user": self.user}.get(role, "")
        known = name and any(text.startswith(f"{line.name}: ") for line in self.lines)
        return f"{name}: {text}" if name and not known else text


def _merged(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    merged: list[tuple[str, str]] = []
    for role, text in parts:
        if merged and merged[-1][0] == role:
            merged[-1] = (role, f"{merged[-1][1]}\n\n{text}")
        else:
            merged.append((role, text))
    return merged
