"""Tells the messages of one text apart, by the marks of its template, its stop sequences, or the names in it.

Every character of the text stands in exactly one message, frame or opening, so that putting them together gives the
text again, whatever was taken for what. Where no marks are known, the whole text is one message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from saga_core.messages import Frame
from saga_core.text_prompt.templates import LLAMA_2, MISTRAL, TEMPLATES, Mark, Template

UNTOLD = "no template"
"""The template's name where the whole text is one message."""
_NAME = re.compile(r"\s*([^\n:<>\[\]{}#]{1,60}):\s*")
_LINE_NAME = re.compile(r"^([^\W\d_][^\n:<>\[\]{}#*\"]{0,39}):(?=[ \n])", re.MULTILINE)
_BY_NAME = "names"
_MOST_STOPS = 64
"""Stop sequences that are looked at; frontends send a dozen."""
_STORY = 300
"""Characters from which on a first message of the user is what the frontend tells of the story."""


@frozen
class TextPrompt:
    """A prompt of one text, told apart."""

    template: Template
    start: str
    """What stands before all messages."""
    messages: tuple[Mapping[str, Any], ...]
    """``role``, ``content`` and ``frame``: what stood around the content, a ``Frame``."""
    opening: str
    """The header behind the last message, which the reply is to follow."""
    asks_for: str = "assistant"
    """Whose message the opening begins, or the last message goes on with."""
    player: str = ""
    """The name of the player's character, where the stop sequences say it."""

    @property
    def told(self) -> bool:
        """Whether messages were told apart."""
        return self.template.name != UNTOLD

    def frame(self, role: str) -> Frame | None:
        """What is written around a new message of ``role``; None: the template has no marks for it."""
        for message in self.messages:
            frame = message["frame"]
            if frame.role == role == message["role"] and frame.head and frame.tail:
                return Frame(frame.head, frame.tail, role)
        if role == "system" and role not in self.template.frames:
            return None
        return self.template.frame(role)


@frozen
class _Piece:
    """A message as it stands in the text, white space and marks apart."""

    role: str
    head: str
    text: str
    tails: list[str]
    closed: bool

    @property
    def tail(self) -> str:
        """White space and marks behind it."""
        return "".join(self.tails)


def read_prompt(prompt: str, stops: Sequence[str] = ()) -> TextPrompt:
    """The messages of ``prompt``. ``stops``: the request's stop sequences, which often name marks and speakers."""
    stops = stops[:_MOST_STOPS]
    names = _names(stops)
    template = _template(prompt, stops, names)
    if template is None:
        message = {"role": "user", "content": prompt, "frame": Frame("", "", "user")}
        return TextPrompt(Template(UNTOLD, (), {}), "", (message,), "")
    if template is LLAMA_2 and "<<SYS>>" not in prompt:
        template = MISTRAL
    start, pieces = _pieces(prompt, template, names[0] if names else "")
    return _read(template, start, pieces, names)


def _read(template: Template, start: str, pieces: list[_Piece], names: Sequence[str]) -> TextPrompt:
    opening, asks_for = "", "assistant"
    if pieces and not pieces[-1].closed:
        last = pieces[-1]
        if not last.text or _NAME.fullmatch(last.text):
            pieces, opening, asks_for = pieces[:-1], last.head + last.text + last.tail, last.role
    # A request for the player's own line is stopped by the character's name first, and by the player's then.
    player = "" if not names else names[1] if asks_for == "user" and len(names) > 1 else names[0]
    if template.name == _BY_NAME:  # the name is a part of what was said, so that what is told stands before it
        pieces = [evolve(piece, head="", text=piece.head + piece.text) for piece in pieces]
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


def _names(stops: Iterable[str]) -> list[str]:
    """The speakers that the stop sequences name: ``\\nName:``."""
    found = (_NAME.fullmatch(stop) for stop in stops if stop.startswith("\n"))
    return list(dict.fromkeys(name[1].strip() for name in found if name is not None))


# -- the template ----------------------------------------------------------------------------------------------


def _template(prompt: str, stops: Sequence[str], names: Sequence[str]) -> Template | None:
    """The template of a prompt: the one whose marks it is stopped by, or ends with, or has; None: there is none."""
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
    return _by_stops(prompt, stops) or _by_names(prompt, names)


def _by_stops(prompt: str, stops: Sequence[str]) -> Template | None:
    """A template of its own: its marks are the stop sequences that stand in the prompt.

    Frontends list the end of a message first, then what begins the user's, the model's and the system's. An end is
    always followed by another mark.
    """
    marks = [stop.strip() for stop in stops if stop.strip() and not (stop.startswith("\n") and _NAME.fullmatch(stop))]
    marks = [mark for mark in dict.fromkeys(marks) if mark in prompt]
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


def _by_names(prompt: str, names: Sequence[str]) -> Template | None:
    """A chat of lines that begin with a name. The player's is the one that the stop sequences give first."""
    if not names:
        return None
    spoken = Counter(_LINE_NAME.findall(prompt))
    last = _NAME.fullmatch(prompt[-80:].rsplit("\n", 1)[-1])
    speakers = [name for name in names if spoken[name] or (last is not None and last[1] == name)]
    if last is not None and last[1] not in speakers:
        speakers.append(last[1])
    elif last is None and not set(speakers) - {names[0]}:
        others = [name for name, _ in spoken.most_common(2) if name not in speakers]
        speakers += others[:1]
    if not speakers:
        return None
    # An impersonation lists the character first, and the prompt ends with the player's own name.
    player = names[1] if len(names) > 1 and last is not None and last[1] == names[1] else names[0]
    marks = tuple(
        Mark(rf"^{re.escape(name)}:(?=[ \n]|\Z)", "user" if name == player else "assistant")
        for name in sorted(speakers, key=len, reverse=True)
    )
    return Template(_BY_NAME, marks, {"user": ("", "\n"), "assistant": ("", "\n"), "system": ("", "\n")})


# -- the pieces ------------------------------------------------------------------------------------------------


def _pieces(prompt: str, template: Template, player: str) -> tuple[str, list[_Piece]]:
    """What stands before all messages, and the messages. White space belongs to the marks that it stands at."""
    pieces: list[_Piece] = []
    start: list[str] = []
    head, role, at = "", "", 0
    implied = False  # whether the open message was begun by the end of the one before, and may not be there at all

    def behind(text: str) -> None:
        (pieces[-1].tails if pieces else start).append(text)

    for found in template.pattern.finditer(prompt):
        mark, text = template.marks[(found.lastindex or 1) - 1], prompt[at : found.start()]
        at = found.end()
        if text.strip() or (role and not implied):
            pieces.append(_piece(role or _loose(template, pieces), head, text, closed=True))
        else:
            behind(head + text)
        head, role, implied = "", mark.role(found[0], player), mark.ends
        if role and not mark.ends:
            head = found[0]
        else:
            behind(found[0])
    text = prompt[at:]
    if text.strip() or role:
        pieces.append(_piece(role or _loose(template, pieces), head, text, closed=False))
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
    """Whose text it is that stands behind no mark: before everything it is the frontend's."""
    return template.loose if pieces else "system"


def _with_story(pieces: list[_Piece], template: Template) -> list[_Piece]:
    """What a frontend tells first, where it has no marks for the system, or does not use them: the user's around it.

    A first message of the player that is taken for it costs nothing: the reply below it proves the place.
    """
    asked = [at for at, piece in enumerate(pieces) if piece.role == "user"]
    if not pieces or pieces[0].role != "user" or len(asked) < 2 or any(each.role == "system" for each in pieces):
        return pieces
    if "system" not in template.frames or asked[1] == 1 or len(pieces[0].text) > _STORY:
        return [evolve(pieces[0], role="system"), *pieces[1:]]
    return pieces


def _examples(pieces: Sequence[_Piece], player: str) -> int:
    """How many pieces at the beginning are no part of the chat: the examples of a character's way to talk.

    They stand in the marks of the chat. In them the player's lines begin with a name, and in the chat they do not.
    """
    said = [at for at, piece in enumerate(pieces) if piece.role == "user"]
    named = [bool(player) and pieces[at].text.startswith(f"{player}:") for at in said]
    if not named or named[-1] or not named[0]:
        return 0
    last = said[named.index(False) - 1]
    return next((at + 1 for at in range(last, len(pieces)) if pieces[at].role == "assistant"), 0)
