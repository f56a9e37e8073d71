"""A chat as RisuAI sends it to a reverse proxy: the order of its messages, and what a model without a system role gets.

Main prompt and description are system messages of their own, then comes a marker, the greeting and the chat, and the
note that stands behind everything. In a group the speaker's own lines are the assistant's, and those of the others the
user's, each wrapped in a tag with its name. What the program asks for besides (translations, suggestions) is a chat of
its own.
"""

from __future__ import annotations

from attrs import define, field

from tests.replay.sillytavern import Line, Messages

CONTINUE = "[Continue the last response]"
NEW_CHAT = "[Start a new chat]"


@define(kw_only=True)
class RisuAI:
    """A chat and its settings. ``marked``: the model takes no system messages, and its voices take turns."""

    char: str
    user: str
    system: str
    marked: bool = False
    group: bool = False
    lines: list[Line] = field(factory=list)

    def turn(self, speaker: str = "") -> Messages:
        """Send, or reroll, or the next member's turn: ``speaker`` in a group."""
        told = [("system", f"[Write the next reply only as {speaker}]")] if self.group and speaker else []
        return self._sent([*self._said(speaker), ("system", "Keep the player's actions to the player."), *told])

    def go_on(self) -> Messages:
        """Continue the last reply."""
        return self._sent([*self._said(""), ("system", CONTINUE)])

    def quiet(self, prompt: str) -> Messages:
        """A translation of the last reply, as the page shows it; ``prompt`` is the translator's."""
        shown = self.lines[-1].text.replace("*", "").replace("\n", "<br>")
        return self._shaped(
            [("system", f"You are a translator. {prompt} Translate the following html."), ("user", f"<p>{shown}</p>")]
        )

    def impersonate(self) -> Messages:
        """What the player might say next."""
        told = "\n".join(f"{'user' if line.player else 'assistant'}: {line.text}" for line in self.lines)
        asked = f"Review past conversations and suggest 4 possible next responses for {self.user}."
        return self._shaped([("system", asked), ("user", told)])

    def _said(self, speaker: str) -> list[tuple[str, str]]:
        found = []
        for line in self.lines:
            text = line.text
            if self.group:
                text = f"<{line.name}'s Message>\n{text}\n</{line.name}'s Message>"
            own = not line.player and (not self.group or line.name == speaker)
            found.append(("assistant" if own else "user", text))
        return found

    def _sent(self, chat: list[tuple[str, str]]) -> Messages:
        main, _, about = self.system.partition("\n")
        return self._shaped([("system", main), ("system", about), ("system", NEW_CHAT), *chat])

    def _shaped(self, parts: list[tuple[str, str]]) -> Messages:
        if not self.marked:
            return [{"role": role, "content": text} for role, text in parts]
        merged: Messages = []
        for role, text in parts:
            if role == "system":
                role, text = "user", f"system: {text}"
            if merged and merged[-1]["role"] == role:
                merged[-1]["content"] += f"\n{text}"
            else:
                merged.append({"role": role, "content": text})
        return merged
