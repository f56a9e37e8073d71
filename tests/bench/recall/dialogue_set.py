"""Dialogues with questions whose evidence is known, and the JSON format for your own ones (docs/recall.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from attrs import frozen

LANGUAGES = ("en", "ko")
_MONTHS = "january february march april may june july august september october november december".split()
_DAY_MONTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([A-Za-z]{3,9})\.?,? (\d{4})\b")
_MONTH_DAY = re.compile(r"\b([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b")
_KOREAN_DAY = re.compile(r"(\d{4})년 ?(\d{1,2})월 ?(\d{1,2})일")


class MalformedSet(ValueError):
    """A file is no set of dialogues. The message names the field, its value and what is allowed."""


@frozen
class Said:
    """One turn of a dialogue: what one speaker said."""

    id: str
    speaker: str
    text: str
    day: date | None = None


@frozen
class Question:
    """A question, and the ids of the turns that answer it. It is asked after all turns."""

    text: str
    evidence: tuple[str, ...]
    group: str = ""
    """The kind of question. Figures are reported for each kind."""
    answer: str = ""
    """The words that answer it; "" when they are not known."""


@frozen
class Dialogue:
    """A dialogue and its questions."""

    id: str
    language: str
    turns: tuple[Said, ...]
    questions: tuple[Question, ...]


def read_dialogues(file: Path) -> list[Dialogue]:
    """Read a JSON file with one dialogue, or with several under ``dialogues``. Raises ``MalformedSet``."""
    try:
        plain = json.loads(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedSet(f"{file}: not UTF-8: {error}; save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise MalformedSet(f"{file}: no JSON: {error}") from error
    if isinstance(plain, Mapping) and "dialogues" in plain:
        _only(plain, {"dialogues"}, "")
        entries = _list(plain, "dialogues", "")
        named = [(f"dialogues[{at}]", entry) for at, entry in enumerate(entries)]
    else:
        named = [("", plain)]
    found = [_dialogue(entry, where, f"{at + 1}") for at, (where, entry) in enumerate(named)]
    ids = [dialogue.id for dialogue in found]
    for at, id_ in enumerate(ids):
        if id_ in ids[:at]:
            raise MalformedSet(f"dialogues[{at}].id: {id_!r} comes twice; give each dialogue its own")
    return found


def _dialogue(plain: Any, where: str, number: str) -> Dialogue:
    _object(plain, where)
    _only(plain, {"id", "language", "turns", "questions"}, where)
    language = plain.get("language", "en")
    if language not in LANGUAGES:
        raise MalformedSet(f"{_path(where, 'language')}: {language!r} is not known; give one of {', '.join(LANGUAGES)}")
    turns: dict[str, Said] = {}
    for at, entry in enumerate(_list(plain, "turns", where)):
        said = _said(entry, _path(where, f"turns[{at}]"))
        if said.id in turns:
            raise MalformedSet(f"{_path(where, f'turns[{at}].id')}: {said.id!r} comes twice; give each turn its own")
        turns[said.id] = said
    questions = [
        _question(entry, _path(where, f"questions[{at}]"), turns)
        for at, entry in enumerate(_list(plain, "questions", where))
    ]
    id_ = _text(plain, "id", where) if "id" in plain else number
    return Dialogue(id_, language, tuple(turns.values()), tuple(questions))


def _said(plain: Any, where: str) -> Said:
    _object(plain, where)
    _only(plain, {"id", "speaker", "time", "text"}, where)
    day = _day(plain["time"], _path(where, "time")) if plain.get("time") is not None else None
    return Said(_text(plain, "id", where), _text(plain, "speaker", where), _text(plain, "text", where), day)


def _question(plain: Any, where: str, turns: Mapping[str, Said]) -> Question:
    _object(plain, where)
    _only(plain, {"text", "evidence", "group", "answer"}, where)
    evidence = _list(plain, "evidence", where)
    for at, id_ in enumerate(evidence):
        if not isinstance(id_, str) or id_ not in turns:
            raise MalformedSet(f"{_path(where, f'evidence[{at}]')}: {id_!r} is no turn's id; give the id of a turn")
    group = _text(plain, "group", where) if "group" in plain else ""
    answer = _text(plain, "answer", where) if "answer" in plain else ""
    return Question(_text(plain, "text", where), tuple(dict.fromkeys(evidence)), group, answer)


def _day(value: Any, path: str) -> date:
    """The date in ISO 8601, in seconds since the epoch, or in words with a day, a month's name and a year."""
    wrong = MalformedSet(
        f"{path}: {value!r} is no time; give ISO 8601 (2023-05-08T13:56:00), seconds since the epoch, or words such as "
        "'1:56 pm on 8 May, 2023'; leave it out if it is not known"
    )
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).date()
        if not isinstance(value, str):
            raise wrong
        if korean := _KOREAN_DAY.search(value):
            return date(*map(int, korean.groups()))
        if (found := _DAY_MONTH.search(value)) and (month := _month(found[2])):
            return date(int(found[3]), month, int(found[1]))
        if (found := _MONTH_DAY.search(value)) and (month := _month(found[1])):
            return date(int(found[3]), month, int(found[2]))
        return datetime.fromisoformat(value.strip()).date()
    except MalformedSet:
        raise
    except (ValueError, OverflowError, OSError) as error:
        raise wrong from error


def _month(word: str) -> int:
    """The number of a month, from 1, by its name or the beginning of it. 0 for any other word."""
    return next((at for at, name in enumerate(_MONTHS, 1) if name.startswith(word.casefold())), 0)


def _path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _object(plain: Any, where: str) -> None:
    if not isinstance(plain, Mapping):
        raise MalformedSet(f"{where or 'the file'}: {_short(plain)} is no object; give one with named fields")


def _only(plain: Mapping[str, Any], known: set[str], where: str) -> None:
    for name in plain:
        if name not in known:
            raise MalformedSet(f"{_path(where, name)}: unknown field; known are {', '.join(sorted(known))}")


def _list(plain: Mapping[str, Any], name: str, where: str) -> Sequence[Any]:
    path = _path(where, name)
    if name not in plain:
        raise MalformedSet(f"{path}: missing; give a list")
    value = plain[name]
    if not isinstance(value, list) or not value:
        raise MalformedSet(f"{path}: {_short(value)} is no list with something in it; give one")
    return value


def _text(plain: Mapping[str, Any], name: str, where: str) -> str:
    path = _path(where, name)
    if name not in plain:
        raise MalformedSet(f"{path}: missing; give a text")
    value = plain[name]
    if not isinstance(value, str) or not value.strip():
        raise MalformedSet(f"{path}: {_short(value)} is no text with something in it; give one")
    return value.strip()


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"
