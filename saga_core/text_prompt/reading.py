"""Prompts that are one text: splits a text into messages, and joins a plan into one text again.

A text is split by the marks of its template, its stop sequences, or the names in it. Every character belongs to exactly
one message, frame or opening, so that joining them gives the same text even if a part was misread. If no marks are
found, the whole text is one message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from attrs import evolve, frozen

from saga_core.language import every, fold_name
from saga_core.messages import Frame, Origin, PromptPlan
from saga_core.text_prompt.templates import ADVENTURE, LLAMA_2, MISTRAL, TEMPLATES, Mark, Template

# -- speakers --------------------------------------------------------------------------------------------------
#
# Speakers: finds the names in stop sequences and lines, and which of them is the player's.
#
# A stop sequence such as ``\nAlex:`` names a speaker whose words the reply must not contain. SillyTavern lists the
# player, and for the player's own line the character before the player. Other frontends always list both, in varying
# order. So if one of two listed names speaks next, the story decides which of them is the character.

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
_HEADER = re.compile(r"<\|[^\n<>|]{1,60}\|>")
"""A mark that a template does not know. It begins what neither the player nor the frontend says."""
_ALONE = re.compile(r"\n?([^\s:：<>\[\]{}#*>][^\n:：<>\[\]{}#*]{0,59}?)(?:[:：]\s*| )")
_TOLD_STORY = 40_000
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
    told = Counter(_any_of((first, second)).findall(story[:_TOLD_STORY]))
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


# -- reading ---------------------------------------------------------------------------------------------------

UNTOLD = "no template"
"""The template's name if the whole text is one message."""
_MOST_STOPS = 64
"""Maximum stop sequences that are used. Frontends send about a dozen."""
_STORY = 300
"""A first user message longer than this many characters is taken for the frontend's system text."""


@frozen
class TextPrompt:
    """A text prompt split into messages."""

    template: Template
    start: str
    """The text before all messages."""
    messages: tuple[Mapping[str, Any], ...]
    """Each has ``role``, ``content`` and ``frame``, a ``Frame`` with the text around the content."""
    opening: str
    """The header after the last message, which the reply follows."""
    asks_for: str = "assistant"
    """The role whose message the opening begins, or whose last message is to be continued."""
    player: str = ""
    """The name of the player's character, if the prompt or its stop sequences show it."""

    @property
    def told(self) -> bool:
        """Whether the prompt was split into messages."""
        return self.template.name != UNTOLD

    def frame(self, role: str) -> Frame | None:
        """Return the text around a new message of ``role``, or None if the template has no marks for the role."""
        for message in self.messages:
            frame = message["frame"]
            if frame.role == role == message["role"] and frame.head and frame.tail:
                return Frame(frame.head, frame.tail, role)
        if role == "system" and role not in self.template.frames:
            return None
        return self.template.frame(role)


@frozen
class _Piece:
    """A message in the text, with its marks and white space separated."""

    role: str
    head: str
    text: str
    tails: list[str]
    closed: bool

    @property
    def tail(self) -> str:
        """The white space and marks after the message."""
        return "".join(self.tails)


def read_prompt(prompt: str, stops: Sequence[str] = ()) -> TextPrompt:
    """Split ``prompt`` into messages. ``stops`` are the request's stop sequences, which often have marks and names."""
    stops = stops[:_MOST_STOPS]
    template, player = _template(prompt, stops), ""
    if template is None and (found := chat_of_names(prompt, stops)):
        template, player = found
    if template is None:
        message = {"role": "user", "content": prompt, "frame": Frame("", "", "user")}
        return TextPrompt(Template(UNTOLD, (), {}), "", (message,), "")
    if template is LLAMA_2 and "<<SYS>>" not in prompt:
        template = MISTRAL
    names = stopped_names(stops)
    start, pieces = _pieces(prompt, template, player or (names[0] if names else ""))
    return _read(template, start, pieces, names, player)


def _read(template: Template, start: str, pieces: list[_Piece], names: Sequence[str], player: str) -> TextPrompt:
    opening, asks_for, next_one = "", "assistant", ""
    if pieces and not pieces[-1].closed:
        last = pieces[-1]
        next_one = name_of(last.text)
        if not last.text or next_one:
            pieces, opening, asks_for = pieces[:-1], last.head + last.text + last.tail, last.role
    if not player:
        player = _player(names, next_one, pieces, asks_for)
        if next_one and next_one == player:
            asks_for = "user"
    pieces = [_with_its_name(piece, template, next_one) for piece in pieces]
    pieces = _with_story(pieces, template)
    shown = _examples(pieces, player)
    messages = tuple(
        {
            "role": "system" if at < shown else piece.role,
            "content": piece.text,
            "frame": Frame(piece.head, piece.tail, piece.role),
        }
        for at, piece in enumerate(pieces)
    )
    return TextPrompt(template, start, messages, opening, asks_for, player)


def _player(names: Sequence[str], next_one: str, pieces: Sequence[_Piece], asks_for: str) -> str:
    """Return the player's name in a prompt with marks."""
    if asks_for == "user" and len(names) > 1:
        # For the player's own line, the stop sequences have the character's name first, then the player's.
        return next_one if next_one in names else names[1]
    story = pieces[0].text if pieces and pieces[0].role == "system" else ""
    return player_among(names, next_one, story)


def _with_its_name(piece: _Piece, template: Template, next_one: str) -> _Piece:
    """Move the speaker's name of a message to the text or to the marks.

    A plain name is part of the text. Any other name ("Dr. No", an emoji) would be taken for words, so it becomes part
    of the marks. After marks, only the name of the next speaker is recognized.
    """
    if template.name == BY_NAME:
        return evolve(piece, head="", text=piece.head + piece.text) if is_plain(piece.head) else piece
    header = f"{next_one}: "
    if not next_one or is_plain(header) or piece.role != "assistant" or not piece.text.startswith(header):
        return piece
    return evolve(piece, head=piece.head + header, text=piece.text.removeprefix(header))


# -- the template ----------------------------------------------------------------------------------------------


def _template(prompt: str, stops: Sequence[str]) -> Template | None:
    """Return the template whose marks are in the stop sequences, at the prompt's end, or in the prompt, or None."""
    there = [each for each in TEMPLATES if each.openers.search(prompt)]
    for each in there:
        if any(each.openers.search(stop.strip()) for stop in stops):
            return each
    end = prompt[-200:].rstrip()
    for each in there:
        if any(found.end() == len(end) for found in each.pattern.finditer(end)):
            return each
    if there:
        return there[0]
    if any(stop.startswith("\n>") and not stop.strip("\n> ") for stop in stops) and ADVENTURE.openers.search(prompt):
        return ADVENTURE
    return _by_stops(prompt, stops)


def _by_stops(prompt: str, stops: Sequence[str]) -> Template | None:
    """Return a template whose marks are the stop sequences that occur in the prompt, or None.

    Frontends list the end of a message first, then the beginnings of the user's, the model's and the system's messages.
    The end of a message is always followed by another mark.
    """
    marks = [stop.strip() for stop in stops if stop.strip() and not (stop.startswith("\n") and name_of(stop))]
    # If a name is listed with and without a colon, the form with the colon is the mark.
    marks = [mark for mark in dict.fromkeys(marks) if mark in prompt and f"{mark}:" not in marks]
    if not marks:
        return None
    longest = sorted(marks, key=len, reverse=True)
    found = list(re.finditer("|".join(map(re.escape, longest)), prompt))
    ends = set(marks)
    for mark, following in zip(found, [*found[1:], None], strict=True):
        behind = prompt[mark.end() : following.start() if following else len(prompt)]
        if behind.strip() or following is None:
            ends.discard(mark[0])
    openers = [mark for mark in marks if mark not in ends]
    if len(openers) < 2:
        return None
    roles = dict(zip(openers, ("user", "assistant", "system"), strict=False))
    end = next(iter(mark for mark in marks if mark in ends), "")
    return Template(
        "stop sequences",
        tuple(Mark(re.escape(mark), roles.get(mark, "" if mark in ends else "system")) for mark in longest),
        {role: (f"{mark}\n", f"{end}\n" if end else "\n\n") for mark, role in roles.items()},
    )


# -- the pieces ------------------------------------------------------------------------------------------------


def _pieces(prompt: str, template: Template, player: str) -> tuple[str, list[_Piece]]:
    """Return the text before all messages, and the messages. White space belongs to the adjacent marks."""
    pieces: list[_Piece] = []
    start: list[str] = []
    head, role, at = "", "", 0
    implied = False  # whether the end of the previous message began this one, which may then be absent

    def behind(text: str) -> None:
        (pieces[-1].tails if pieces else start).append(text)

    def said(text: str, *, closed: bool) -> None:
        speaker = role or ("assistant" if _HEADER.match(text.lstrip()) else _loose(template, pieces))
        if speaker == "user" and template.by_lines:
            line, end, rest = text.partition("\n")
            pieces.append(_piece(speaker, head, line + end, closed=bool(end)))
            if rest.strip():
                pieces.append(_piece("assistant", "", rest, closed=closed))
            elif rest:
                behind(rest)
        else:
            pieces.append(_piece(speaker, head, text, closed=closed))

    for found in template.pattern.finditer(prompt):
        mark, text = template.marks[(found.lastindex or 1) - 1], prompt[at : found.start()]
        at = found.end()
        if text.strip() or (role and not implied):
            said(text, closed=True)
        else:
            behind(head + text)
        head, role, implied = "", mark.role(found[0], player), mark.ends
        if role and not mark.ends:
            head = found[0]
        else:
            behind(found[0])
    text = prompt[at:]
    if text.strip() or role:
        said(text, closed=False)
    else:
        behind(text)
    return "".join(start), pieces


def _piece(role: str, head: str, text: str, *, closed: bool) -> _Piece:
    kept = text.strip()
    if not kept:
        return _Piece(role, head + text, "", [], closed)
    first = text.index(kept[0])
    return _Piece(role, head + text[:first], kept, [text[first + len(kept) :]], closed)


def _loose(template: Template, pieces: Sequence[_Piece]) -> str:
    """Return the role of text after no mark. Before all messages it is the frontend's system text."""
    return template.loose if pieces else "system"


def _with_story(pieces: list[_Piece], template: Template) -> list[_Piece]:
    """Mark a first user message as system text if the frontend put its system text into the user's marks.

    If the message is really the player's, no harm is done, because the reply below it still identifies the place.
    """
    asked = [at for at, piece in enumerate(pieces) if piece.role == "user"]
    if not pieces or pieces[0].role != "user" or len(asked) < 2 or any(each.role == "system" for each in pieces):
        return pieces
    if "system" not in template.frames or asked[1] == 1 or len(pieces[0].text) > _STORY:
        return [evolve(pieces[0], role="system"), *pieces[1:]]
    return pieces


def _examples(pieces: Sequence[_Piece], player: str) -> int:
    """Return the number of leading pieces that are example dialogue and not part of the chat.

    Examples use the same marks as the chat. The player's lines begin with a name in the examples but not in the chat.
    """
    said = [at for at, piece in enumerate(pieces) if piece.role == "user"]
    named = [bool(player) and pieces[at].text.startswith(f"{player}:") for at in said]
    if not named or named[-1] or not named[0]:
        return 0
    last = said[named.index(False) - 1]
    return next((at + 1 for at in range(last, len(pieces)) if pieces[at].role == "assistant"), 0)


# -- writing ---------------------------------------------------------------------------------------------------

_OWN = (Origin.RULES, Origin.WORLD, Origin.PAGES)


def write_prompt(plan: PromptPlan, prompt: TextPrompt) -> str:
    """Return the text of ``plan``, whose client blocks are the messages of ``prompt``.

    SAGA's rules, world and pages are at the end of the system part. Without additions, the result is the client's
    prompt.
    """
    own = "\n\n".join(block.text for block in plan.blocks if block.origin in _OWN)
    rest = [block for block in plan.blocks if block.origin not in _OWN]
    written = [prompt.start]
    for block in rest:
        frame = block.frame or prompt.frame(block.role) or Frame("", "\n\n", "system")
        text, lead = block.text, block.lead
        if own and frame.role == "system" and block.origin is Origin.CLIENT:
            text, own = _joined(text, own), ""
        elif own:
            system = prompt.frame("system")
            if system is None:  # no marks for system text: put it before the first message
                lead = _joined(own, lead)
            else:
                written.append(system.head + own + system.tail)
            own = ""
        if prompt.template.outside:
            written.append(_joined(lead, frame.head + text) + frame.tail)
        else:
            written.append(frame.head + _joined(lead, text) + frame.tail)
    if own:
        written.append(f"{own}\n\n")
    return "".join((*written, prompt.opening))


def _joined(one: str, other: str) -> str:
    return f"{one}\n\n{other}" if one and other else one or other
