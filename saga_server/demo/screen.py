"""Shows the demo on the terminal: the chat, the context that SAGA added, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from saga_server.demo.adventure import AdventureStep
from saga_server.demo.differences import inventory, relations
from saga_server.demo.frontend import ServerReply

_PLAIN_WIDTH = 100
_GRAPH_LINES = 24
_LINES = 2
_FACTS = ("[Now]", "[최신 변경]")
_EARLIER = ("[Earlier]", "[지난 일]")
_LORE = ("[Lore]", "[관련 로어북]")


def make_console(*, plain: bool) -> Console:
    """Return a console with colour on a terminal, or without colour if ``plain`` is set or there is no terminal."""
    if not plain:
        console = Console(highlight=False, emoji=False, markup=False)
        if console.is_terminal:
            return console
    return Console(no_color=True, force_terminal=False, highlight=False, emoji=False, markup=False, width=_PLAIN_WIDTH)


@define
class Screen:
    """Prints the adventure."""

    console: Console
    words: Mapping[str, str]
    """Those of the adventure, by key."""

    def headline(self, title: str) -> None:
        """Print the title of the demo or of a part of it."""
        self.console.print()
        self.console.print(Rule(Text(title, style="bold"), align="left", characters="═", style="cyan"))

    def say(self, text: str, style: str = "dim", indent: str = "  ") -> None:
        """Print a paragraph of text."""
        for line in Text(text).wrap(self.console, max(20, self.console.width - len(indent))):
            line.rstrip()
            self.console.print(Text.assemble(indent, (line.plain, style)), soft_wrap=True)

    def ask(self, step: AdventureStep, turn: int, words: str) -> None:
        """Print the heading of a step, and the player's words."""
        kinds = {
            "swipe": self.words["swipe"],
            "branch": self.words["branch"],
            "return": self.words["returned"],
            "kill": self.words["killed"],
        }
        parts = [f"{self.words['main']} {turn}"]
        if step.action in kinds:
            parts.append(kinds[step.action])
        if step.stream:
            parts.append(self.words["stream"])
        self.console.print()
        self.console.print(Rule(Text(" · ".join(parts)), align="left", style="dim"))
        if step.remark:
            self.say(step.remark, "italic dim")
        self.say(words, "bold green", "› ")

    def reply(self, answer: ServerReply) -> None:
        """Print the reply that the player saw."""
        self.say(answer.said.reply, "")

    def context(self, context: Mapping[str, Any], answer: ServerReply, *, recall: bool) -> None:
        """Print the context that SAGA added. With ``recall`` the first earlier turns are shown in full."""
        words = self.words
        self.say(f"{words['known']} ({context['tokens']} {words['tokens']}, {answer.context_ms:.1f} ms)", "cyan")
        facts, others = condensed(str(context["text"]), words, recall=recall)
        for line in facts:
            self.say(line, "dim", "  │ ")
        for line in others:
            text = Text(f"  │ {line}", style="dim", no_wrap=True)
            text.truncate(self.console.width, overflow="ellipsis")
            self.console.print(text)

    def changes(self, found: Sequence[str]) -> None:
        """Print what changed in the state."""
        if not found:
            self.say(f"= {self.words['unchanged']}")
        for line in found:
            self.say(line, "yellow", "  ± ")

    def verdict(self, problems: Sequence[str]) -> None:
        """Print whether the step had the expected results."""
        for problem in problems:
            self.say(f"{self.words['not_as_expected']}: {problem}", "bold red", "  ✗ ")
        if not problems:
            self.say(self.words["as_expected"], "green", "  ✓ ")

    def final(self, state: Mapping[str, Any]) -> None:
        """Print the state at the end."""
        words = self.words
        items = ", ".join(f"{name} ×{count}" for name, count in inventory(state).items())
        stands = ", ".join(f"{name}: {kind} {strength:+d}" for name, (kind, strength) in relations(state).items())
        rows = (
            (words["place"], state["location"]),
            ("HP", f"{state['hp']}/{state['max_hp']}"),
            (words["inventory"], items),
            (words["present"], ", ".join(state["npcs_present"])),
            (words["met"], ", ".join(state["npcs_met"])),
            (words["dead"], ", ".join(state["dead"])),
            (words["relations"], stands),
        )
        for name, value in rows:
            self.say(f"{name}: {value or words['nobody']}", "")

    def graph(self, lines: Sequence[str], player: str, others: Sequence[str]) -> None:
        """Print edges of the graph in words: first those of the player, then those of ``others``."""
        own = [line for line in lines if line.startswith(f"{player} ")]
        near = [line for name in others for line in lines if line.startswith(f"{name} ")]
        shown = [*own, *near][:_GRAPH_LINES]
        for line in shown:
            self.say(line, "")
        if len(lines) > len(shown):
            self.say(self.words["more"].format(count=len(lines) - len(shown)))

    def totals(self, rows: Sequence[tuple[str, object]]) -> None:
        """Print the totals."""
        for name, value in rows:
            self.say(f"{name}: {value}", "")


def condensed(text: str, words: Mapping[str, str], *, recall: bool = False) -> tuple[list[str], list[str]]:
    """Return the lines to show in full, and one line for each other section.

    The facts are shown in full, and with ``recall`` the first earlier turns as well.
    """
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith(("[SAGA", "[/SAGA")):
            continue
        if line.startswith("[") and line.endswith("]"):
            heading = line
            sections[heading] = []
        elif heading:
            sections[heading].append(line.removeprefix("- "))
    whole = [line for heading in _FACTS for line in sections.pop(heading, ())]
    if recall:
        whole += [f"{heading} {line}" for heading in _EARLIER for line in sections.pop(heading, ())[:_LINES]]
    return whole, [_short(heading, lines, words) for heading, lines in sections.items()]


def _short(heading: str, lines: list[str], words: Mapping[str, str]) -> str:
    if heading in _LORE:
        return f"{heading} {', '.join(line.partition(':')[0] for line in lines)}"
    rest = f" {words['more'].format(count=len(lines) - _LINES)}" if len(lines) > _LINES else ""
    return f"{heading} {' / '.join(lines[:_LINES])}{rest}"
