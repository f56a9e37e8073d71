"""Tells the messages of one text apart, by the marks of its template, its stop sequences, or the names in it.

Every character of the text stands in exactly one message, frame or opening, so that putting them together gives the
text again, whatever was taken for what. Where no marks are known, the whole text is one message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from saga_core.messages import Frame
from saga_core.text_prompt.speakers import BY_NAME, chat_of_names, is_plain, name_of, player_among, stopped_names
from saga_core.text_prompt.templates import ADVENTURE, LLAMA_2, MISTRAL, TEMPLATES, Mark, Template

UNTOLD = "no template"
"""The template's name where the whole text is one message."""
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
    """The player's name, where marks tell the messages apart."""
    if asks_for == "user" and len(names) > 1:
        # The player's own line is stopped by the character's name first, and by the player's then.
        return next_one if next_one in names else names[1]
    story = pieces[0].text if pieces and pieces[0].role == "system" else ""
    return player_among(names, next_one, story)


def _with_its_name(piece: _Piece, template: Template, next_one: str) -> _Piece:
    """A message with its speaker's name where it is expected: a plain name is a part of what was said.

    An odd one ("Dr. No", a picture) would be taken for words, so it goes with the marks. Behind marks only the name of
    who is to speak next is known for one.
    """
    if template.name == BY_NAME:
        return evolve(piece, head="", text=piece.head + piece.text) if is_plain(piece.head) else piece
    header = f"{next_one}: "
    if not next_one or is_plain(header) or piece.role != "assistant" or not piece.text.startswith(header):
        return piece
    return evolve(piece, head=piece.head + header, text=piece.text.removeprefix(header))


# -- the template ----------------------------------------------------------------------------------------------


def _template(prompt: str, stops: Sequence[str]) -> Template | None:
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
    if any(stop.startswith("\n>") and not stop.strip("\n> ") for stop in stops) and ADVENTURE.openers.search(prompt):
        return ADVENTURE
    return _by_stops(prompt, stops)


def _by_stops(prompt: str, stops: Sequence[str]) -> Template | None:
    """A template of its own: its marks are the stop sequences that stand in the prompt.

    Frontends list the end of a message first, then what begins the user's, the model's and the system's. An end is
    always followed by another mark.
    """
    marks = [stop.strip() for stop in stops if stop.strip() and not (stop.startswith("\n") and name_of(stop))]
    # Of a name that is listed with a colon and without, the first is the mark.
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
    """What stands before all messages, and the messages. White space belongs to the marks that it stands at."""
    pieces: list[_Piece] = []
    start: list[str] = []
    head, role, at = "", "", 0
    implied = False  # whether the open message was begun by the end of the one before, and may not be there at all

    def behind(text: str) -> None:
        (pieces[-1].tails if pieces else start).append(text)

    def said(text: str, *, closed: bool) -> None:
        speaker = role or _loose(template, pieces)
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
