"""A whole chat in one message: splits it by the names in front of its lines and by the known replies in it.

Many texts have lines that begin with a name and a colon: the fields of a card, a play within a reply, a frontend's
notes. So a name alone proves nothing. A name counts if a known reply follows it, and then so do the names that
alternate with it. Text without a name after a known reply is the frontend's note or instruction.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from attrs import define, evolve

from saga_core.language import fold_name
from saga_core.state_block import THINK_END, without_thoughts
from saga_core.transcript.dialogue import NAME, SYSTEM, Transcript, Utterance, split_note
from saga_core.transcript.evidence import SHORT, TurnIndex, similar_replies
from saga_core.transcript.identities import identity, identity_key
from saga_core.transcript.persona import persona_of

_LOOKED_UP = 24
"""Maximum marks, from the end, after which a known reply is searched."""
_READ = 24_000
"""Maximum characters of a reply after a mark."""
_MOST = 20_000
"""A text with this many lines that begin with a name is not a chat."""
_LINES = 4
"""Maximum line ends that are tried as the end of a short reply."""
_NOTE = re.compile(rf"^{SYSTEM}: ", re.M)
_OPEN = re.compile(r"(?:\A|\n)[ \t]{0,8}([^\W\d_][^\n:：.!?\"“*。\[\]<>{}]{0,39})[:：][ \t]{0,8}(?=\n|\Z)")


@define
class _Mark:
    """A name in front of a line, with the offsets of the line and of the speaker's words."""

    name: str
    at: int
    start: int
    end: int | None = None
    """The end of the known reply after the name; None if there is none."""
    long: bool = False
    """Whether that reply is long enough to be unique."""


async def told_apart(transcript: Transcript, known: TurnIndex, owner: str) -> Transcript | None:
    """Split a chat that came as one user message into utterances, or return None if it has no known reply.

    An assistant message after it is kept.
    """
    only, *behind = transcript.utterances
    text = only.sent
    marks = [_Mark(found[1].strip(), found.start(), found.end()) for found in islice(NAME.finditer(text), _MOST)]
    if not marks or len(marks) == _MOST:
        return None
    persona = persona_of(transcript)
    player = fold_name(persona.name) if persona else ""
    if player not in {fold_name(mark.name) for mark in marks}:
        player = ""
    for at in range(len(marks) - 1, max(-1, len(marks) - 1 - _LOOKED_UP), -1):
        if not player or fold_name(marks[at].name) != player:
            until = marks[at + 1].at if at + 1 < len(marks) else len(text)
            await _look_up(marks[at], text, until, known, owner)
    told = [mark for mark in marks if mark.end is not None]
    characters = {mark.name for mark in told if mark.long} or {mark.name for mark in told}
    if not characters:
        return None
    notes = [mark.at for mark in marks if mark.name == SYSTEM]
    marks = [mark for mark in marks if mark.name != SYSTEM]
    spoken = _spoken(marks, characters, player, text)
    utterances, asked, header = _parts(only, text, spoken, characters, notes)
    if behind:
        return evolve(transcript, utterances=(*utterances, *behind))
    return evolve(transcript, utterances=tuple(utterances), asked=tuple(asked), speaker=header)


async def _look_up(mark: _Mark, text: str, until: int, known: TurnIndex, owner: str) -> None:
    """Set the end of the known reply after a mark. The reply itself may have lines that begin with a name."""
    start = mark.start
    if text[start : start + 400].lstrip()[:6].lower() == "<think":
        # Thoughts are not part of the reply and may have any lines.
        thought = THINK_END.search(text, start)
        start = thought.end() if thought else start
    rest = identity(text[start : start + _READ])
    own = identity(split_note(text[start:until])[0]) if until - start <= _READ else ""
    kin = [each for each in await similar_replies(known, rest, owner) if each.how == "grown"]
    if kin:
        longest = max(each.length for each in kin)
        mark.end = _end_of(text, start, rest[:longest])
        mark.long = mark.end is not None and longest >= SHORT
    if own and mark.end is None and any(each.how == "cut" for each in await similar_replies(known, own, owner)):
        mark.end = start + len(split_note(text[start:until])[0])
    if mark.end is None:
        for end in islice(_line_ends(text, start, until), _LINES):
            if end - start > _READ:
                break
            if (said := text[start:end]).strip() and await known.replies(owner, identity_key(said), 1):
                mark.end = end
    if mark.end is not None:
        mark.start = start


def _line_ends(text: str, start: int, until: int) -> Iterator[int]:
    at = text.find("\n", start + 1, until)
    while at >= 0:
        yield at
        at = text.find("\n", at + 1, until)
    yield until


def _end_of(text: str, start: int, known: str) -> int | None:
    """Return the line end at which a known text that begins at ``start`` ends, or None."""
    ends = list(_line_ends(text, start, min(len(text), start + _READ)))
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if len(identity(text[start : ends[middle]])) < len(known):
            low = middle + 1
        else:
            high = middle
    return ends[low] if low < len(ends) and identity(text[start : ends[low]]) == known else None


def _spoken(marks: Sequence[_Mark], characters: set[str], player: str, text: str) -> list[_Mark]:
    """Return the marks of real speakers: characters, the player, and names that alternate with them."""
    times = Counter(mark.name for mark in marks)
    kept: list[_Mark] = []
    reached = 0
    for mark, following in zip(marks, (*marks[1:], None), strict=True):
        if mark.at < reached:
            continue  # a line of a reply
        last = kept[-1] if kept else None
        follows = last is not None and last.end is not None and not text[last.end : mark.at].strip()
        answered = following is not None and following.name in characters
        often = times[mark.name] > 1
        speaks = (often and answered) or fold_name(mark.name) == player if player else often or follows or answered
        if speaks or mark.name in characters:
            kept.append(mark)
            reached = mark.end or 0
    return kept


def _parts(
    only: Utterance, text: str, marks: Sequence[_Mark], characters: set[str], notes: Sequence[int]
) -> tuple[list[Utterance], list[Utterance], str]:
    """Return the utterances after the marks, the instructions after the last one, and the next speaker's name."""
    said: list[Utterance] = []
    asked: list[Utterance] = []
    header = ""
    for number, mark in enumerate(marks):
        until = marks[number + 1].at if number + 1 < len(marks) else len(text)
        first = bisect_left(notes, mark.start)
        noted = min(notes[first], until) if first < len(notes) else until
        words, note = text[mark.start : noted], text[noted:until]
        if mark.end is not None and mark.name in characters:
            words, note = text[mark.start : mark.end], text[mark.end : until]
        role = "assistant" if mark.name in characters else "user"
        if number + 1 == len(marks):
            if mark.end is None:
                words, more = split_note(words)
                note = f"{more}\n\n{note}"
            words, header, more = _until_header(words, characters)
            if not header:
                more, header, note = _until_header(note, characters)
            note = f"{more}\n\n{note}"
        words = (without_thoughts(words) if role == "assistant" else words).strip()
        if words:
            said.append(only._replace(role=role, sent=words, speaker=mark.name, quoted=True, images=()))
        if number + 1 == len(marks) and note.strip():
            asked.append(only._replace(role="user", sent=_NOTE.sub("", note).strip(), images=()))
    if said and only.images:
        said[-1] = said[-1]._replace(images=only.images)
    return said, asked, header


def _until_header(text: str, characters: set[str]) -> tuple[str, str, str]:
    """Split a text at a line with only a character's name. Returns the text before, the name and the text after."""
    for found in _OPEN.finditer(text):
        if found[1].strip() in characters:
            return text[: found.start()], found[1].strip(), text[found.end() :]
    return text, "", ""
