"""Shortens a context for the screen: all facts, and the first lines or the names of the other sections."""

from __future__ import annotations

from saga_server.demo.wording import Wording

_LINES = 2
_FACTS = ("[Now]", "[최신 변경]")
_EARLIER = ("[Earlier]", "[지난 일]")
_LORE = ("[Lore]", "[관련 로어북]")


def condensed(text: str, words: Wording, *, recall: bool = False) -> tuple[list[str], list[str]]:
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


def _short(heading: str, lines: list[str], words: Wording) -> str:
    if heading in _LORE:
        return f"{heading} {', '.join(line.partition(':')[0] for line in lines)}"
    rest = f" {words.more.format(count=len(lines) - _LINES)}" if len(lines) > _LINES else ""
    return f"{heading} {' / '.join(lines[:_LINES])}{rest}"
