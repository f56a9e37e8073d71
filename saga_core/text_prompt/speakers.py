"""Speakers: finds the names in stop sequences and lines, and which of them is the player's.

A stop sequence such as ``\\nAlex:`` names a speaker whose words the reply must not contain. SillyTavern lists the
player, and for the player's own line the character before the player. Other frontends always list both, in varying
order. So if one of two listed names speaks next, the story decides which of them is the character.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from saga_core.language import every, fold_name
from saga_core.text_prompt.templates import Mark, Template

BY_NAME = "names"
"""The template's name for a chat that has names but no marks."""
_SYSTEM = "system"
"""The name in front of lines without a speaker."""
_HUMAN = "human"
"""The player's name in prompt formats, in addition to the words of each language."""
_MODELS = frozenset("assistant ai bot chatbot gpt gpt-4 koboldgpt model narrator gm dm".split())
"""Names that only a model has."""
_NAME = re.compile(r"\s*([^\n:：<>\[\]{}#]{1,60})[:：]\s*")
_LINE_NAME = re.compile(r"^([^\W\d_][^\n:：<>\[\]{}#*\"]{0,39})(?::(?=[ \r\n])|：)", re.MULTILINE)
_PLAIN = re.compile(r"\s*[^\W\d_][^\n:：.!?\"“*。]{0,39}[:：]\s+")
_ALONE = re.compile(r"\n?([^\s:：<>\[\]{}#*>][^\n:：<>\[\]{}#*]{0,59}?)(?:[:：]\s*| )")
_STORY = 40_000
"""Characters of the story in which names are counted."""


@cache
def _players() -> frozenset[str]:
    """Return the names that only a player has."""
    return frozenset(word for each in every() for word in each.names.player) | {_HUMAN}


def name_of(header: str) -> str:
    """Return the name if ``header`` is only a name with a colon, otherwise ""."""
    found = _NAME.fullmatch(header)
    return found[1].strip() if found else ""


def is_plain(header: str) -> bool:
    """Whether ``header`` is empty, or a name with a colon that the comparison of texts recognizes as a name."""
    return not header.strip() or _PLAIN.fullmatch(header) is not None


def stopped_names(stops: Iterable[str]) -> list[str]:
    """Return the names in stop sequences of the form ``\\nName:``."""
    names = dict.fromkeys(name_of(stop) for stop in stops if stop.startswith("\n"))
    return [name for name in names if name and name != _SYSTEM]


def player_among(names: Sequence[str], next_one: str, story: str, first_one: str = "") -> str:
    """Return the player's name among the ``names`` in stop sequences, "" without names.

    ``next_one`` is the next speaker, if the prompt's end names one. ``story`` is the text before the chat.
    ``first_one`` is the first speaker, who counts as the character if nothing else decides.
    """
    if len(names) < 2:
        return names[0] if names else ""
    first, second = names[:2]
    for name in (first, second):
        if fold_name(name) in _players():
            return name
    if next_one not in (first, second) or (next_one == first and len(names) > 2):
        return first
    told = Counter(_any_of((first, second)).findall(story[:_STORY]))
    if told[first] == told[second]:
        return first if first_one == second else second
    return second if told[first] > told[second] else first


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for the names, longest first, that does not match within longer words of Latin letters."""
    longest = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![A-Za-z])(?:{'|'.join(map(re.escape, longest))})(?![A-Za-z])")


def chat_of_names(prompt: str, stops: Sequence[str]) -> tuple[Template, str] | None:
    """Return the template of a chat whose lines begin with names, and the player's name.

    Returns None if neither a stop sequence nor a name at the end of the prompt identifies a speaker.
    """
    lines = _LINE_NAME.findall(prompt)
    spoken = Counter(name.strip() for name in lines)
    noted = spoken.pop(_SYSTEM, 0) > 0 and any(name_of(stop) == _SYSTEM for stop in stops)
    next_one = name_of(prompt[-80:].rsplit("\n", 1)[-1])
    names, first_is_the_player = _listed(stops, spoken, next_one)
    if not names:
        names, first_is_the_player = _unlisted(spoken, next_one, lines), True
    if not names:
        return None
    speakers = [name for name in names if spoken[name] or name == next_one]
    if next_one and next_one not in speakers:
        speakers.append(next_one)
    elif not next_one and not set(speakers) - {names[0]}:
        speakers += [name for name, _ in spoken.most_common(2) if name not in speakers][:1]
    if not speakers:
        return None
    by_name = {name: _line(name) for name in sorted(speakers, key=len, reverse=True)}
    said = list(re.finditer("|".join(by_name.values()), prompt, re.MULTILINE))
    player = names[0]
    if not first_is_the_player:
        story, first_one, last_one = prompt, "", ""
        if said:
            story, first_one, last_one = prompt[: said[0].start()], name_of(said[0][0]), name_of(said[-1][0])
        player = player_among(names, next_one or last_one, story, first_one)
    marks = [Mark(line, "user" if name == player else "assistant") for name, line in by_name.items()]
    if noted:
        marks.append(Mark(_line(_SYSTEM), "system"))
    frames = {"user": ("", "\n"), "assistant": ("", "\n"), "system": ("", "\n\n")}
    return Template(BY_NAME, tuple(marks), frames, outside=True), player


def _listed(stops: Sequence[str], spoken: Counter[str], next_one: str) -> tuple[list[str], bool]:
    """Return the names in the stop sequences, and whether the first one is certainly the player's."""
    names = stopped_names(stops)
    # KoboldAI Lite also sends other forms, with the player's name first.
    found = dict.fromkeys(each[1].strip() for each in map(_ALONE.fullmatch, stops) if each)
    among_all = [name for name in found if spoken[name] or name == next_one]
    return (among_all, True) if among_all and among_all[0] not in names else (names, False)


def _unlisted(spoken: Counter[str], next_one: str, lines: Sequence[str]) -> list[str]:
    """Return the player's name and the next speaker's if no stop sequence has names. The last other speaker is the
    player.

    The prompt must end with the name of an earlier speaker or of a model, because "Summary:" is not a name.
    """
    others = [name.strip() for name in lines if name.strip() not in (next_one, _SYSTEM)]
    if not others or not next_one or not (spoken[next_one] or next_one.casefold() in _MODELS):
        return []
    return [next((name for name in others if fold_name(name) in _players()), others[-1]), next_one]


def _line(name: str) -> str:
    """Return the pattern of a line's beginning with the speaker ``name``."""
    return rf"^{re.escape(name)}(?::(?=[ \r\n]|\Z)|：)"
