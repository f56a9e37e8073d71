"""Find the session, world and player that a request names. The first of these sources that gives a name wins:

1. the base URL: ``/s/SESSION/v1``, ``/w/WORLD/v1`` or both
2. the headers ``X-SAGA-Session``, ``X-SAGA-World``, ``X-SAGA-Player``, ``X-SAGA-Member`` (who speaks in a group)
   ``X-SAGA-Continue`` (the story that a new chat goes on with) and ``X-SAGA-Kind`` (the kind of session)
3. the API key: ``KEY#SESSION``
4. a marker in a system message or a player's message: ``[[saga:session=NAME]]``, ``[[saga:world=NAME]]``,
   ``[[saga:player=NAME]]``, ``[[saga:member=NAME]]`` or ``[[saga:continue=SESSION@TURN]]``; markers are removed from
   all messages before they go upstream. A marker ``[[saga:tracker=NAME | FIELD=VALUE]]`` declares what the story
   counts, and there may be several; ``[[saga:profile=NAME]]`` says what sort of story it is, and ``[[saga:kind=NAME]]``
   of what kind the session is
5. the field ``user`` or a hash of the system prompt, if configured (``session.identify``)

The header ``X-SAGA-Tools`` says whether the narrator is offered SAGA's tools for this reply: ``memory`` or ``off``.

The header ``X-SAGA-Chat``, or a marker ``[[saga:chat=ID]]``, gives the frontend's own id of the chat. It names no
session, because a frontend gives a branch another id; the panel in the frontend asks with it where its last request
went.

Header values and key suffixes may be percent-encoded UTF-8, for clients that can send ASCII only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast, get_args
from urllib.parse import unquote

from attrs import frozen

from saga_core.config import Identify, Markers, Tools
from saga_core.errors import BadInput
from saga_core.language import clean_name
from saga_core.messages import SYSTEM_ROLES, flatten
from saga_core.play import MARKER, without_markers
from saga_core.sessions import checked_kind
from saga_core.trackers import MOST_TRACKERS, Tracker, checked_profile, tracker_in_line
from saga_server.http.callers.identity import Bearer
from saga_server.http.errors import RequestError

TRACKER = "tracker"
_MOST_DECLARED = 4 * MOST_TRACKERS
"""Most different declarations of trackers that are read. A request can hold a hundred thousand."""
LONGEST_NAME = 200
_INVISIBLE = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that are invisible although Unicode calls them printable: a name with one can look like another name."""
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Control characters but those that are white space."""
_WRITTEN = re.compile("[\u061c\u200c-\u200f\U000e0020-\U000e007f]")
"""Invisible characters that names are written with: joiners, marks of direction, and the letters of a flag."""

_COUNTED = {"all": ("user", *SYSTEM_ROLES), "player": ("user",), "off": ()}
"""Roles whose markers count, by ``session.markers``."""


@frozen
class RequestNames:
    """The session, world and player that a request names, and its messages without markers."""

    session: str | None
    world: str | None
    messages: list[Any]
    player: str | None = None
    marked: frozenset[str] = frozenset()
    """Which of ``session``, ``world`` and ``continue`` come from a marker. If a marker has an unknown name, it is
    ignored, with a notice."""
    notices: tuple[str, ...] = ()
    trackers: tuple[Tracker, ...] = ()
    """What the story shall count, from markers."""
    profile: str = ""
    """What sort of story it shall be, from a marker."""
    member: str = ""
    """The member of a group who speaks next."""
    chat: str | None = None
    """The frontend's own id of the chat."""
    continued: str = ""
    """The story that a new chat goes on with."""
    kind: str = ""
    """The kind of session."""
    tools: Tools | None = None
    """Whether the narrator is offered tools of SAGA's; None if the request does not say."""

    @property
    def in_words(self) -> tuple[str, ...]:
        """All that is named beside the messages. Requests that differ in it are never one turn."""
        told = (self.session, self.world, self.player, self.member, self.chat, self.continued, self.kind, self.tools)
        return tuple(each or "" for each in told)


def read_names(
    messages: list[Any],
    *,
    path: Mapping[str, str],
    headers: Mapping[str, str],
    bearer: Bearer,
    user: str | None,
    identify: Identify,
    markers: Markers = "all",
) -> RequestNames:
    """Find the session, world and player that a request names. Raises ``RequestError`` for an invalid name."""
    written, messages = take_markers(messages, _COUNTED[markers])
    trackers, wrong = _read_trackers(written.pop(TRACKER, ""))
    profile, other = _read_profile(written.pop("profile", ""))
    kind, unkind = _read_kind(headers.get("X-SAGA-Kind", ""), written.pop("kind", ""))
    marks, notices = _read_marks(written)
    explicit = (
        read_name(path.get("session"), "session in the base URL")
        or read_name(unquote(headers.get("X-SAGA-Session", "")), "X-SAGA-Session")
        or read_name(bearer.session, "session in the API key")
    )
    session = explicit or marks.get("session") or _configured(identify, user, messages)
    world = read_name(path.get("world"), "world in the base URL") or read_name(
        unquote(headers.get("X-SAGA-World", "")), "X-SAGA-World"
    )
    player = read_name(unquote(headers.get("X-SAGA-Player", "")), "X-SAGA-Player") or marks.get("player")
    chat = read_name(unquote(headers.get("X-SAGA-Chat", "")), "X-SAGA-Chat") or marks.get("chat")
    member = read_name(unquote(headers.get("X-SAGA-Member", "")), "X-SAGA-Member") or marks.get("member") or ""
    header = read_name(unquote(headers.get("X-SAGA-Continue", "")), "X-SAGA-Continue")
    continued = header or marks.get("continue") or ""
    said = {"session": None if explicit else marks.get("session"), "world": None if world else marks.get("world")}
    said["continue"] = None if header else marks.get("continue")
    marked = frozenset(kind for kind, name in said.items() if name)
    notices = (*notices, *wrong, *other, *unkind)
    world = world or marks.get("world")
    tools = _read_tools(headers.get("X-SAGA-Tools", ""))
    return RequestNames(
        session, world, messages, player, marked, notices, trackers, profile, member, chat, continued, kind, tools
    )


def _read_tools(header: str) -> Tools | None:
    """Return what a header says of SAGA's tools. Raises ``RequestError`` for anything but ``memory`` and ``off``."""
    word = header.strip().lower()
    if word and word not in get_args(Tools):
        raise RequestError(f"X-SAGA-Tools: {word[:40]!r} is unknown; give memory or off", param="X-SAGA-Tools")
    return cast("Tools", word) if word else None


def _read_trackers(lines: str) -> tuple[tuple[Tracker, ...], tuple[str, ...]]:
    """Return the trackers that markers declare, and a notice for each invalid declaration."""
    read: dict[str, Tracker | None] = {}
    found, notices = {}, []
    for line in lines.splitlines():
        if line not in read:
            if len(read) == _MOST_DECLARED:
                notices.append(f"markers are not heeded: of [[saga:tracker=…]], {_MOST_DECLARED} are read")
                break
            read[line] = None
            try:
                read[line] = tracker_in_line(line)
            except BadInput as error:
                notices.append(f"a marker is not heeded: [[saga:tracker={line[:40]}…]]: {error}")
        if (tracker := read[line]) is not None:
            found[tracker.key] = tracker
    return tuple(found.values()), tuple(notices)


def _read_profile(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the profile that a marker chooses, and a notice if there is no such profile."""
    try:
        return (checked_profile(name) if name else ""), ()
    except BadInput as error:
        return "", (f"a marker is not heeded: {error}",)


def _read_kind(header: str, mark: str) -> tuple[str, tuple[str, ...]]:
    """Return the kind of session that a header or a marker chooses, and a notice if the marker's is unknown.

    Raises ``RequestError`` if the header's is.
    """
    try:
        if header.strip():
            return checked_kind(header), ()
        return (checked_kind(mark) if mark else ""), ()
    except BadInput as error:
        if header.strip():
            raise RequestError(f"X-SAGA-Kind: {error}", param="X-SAGA-Kind") from error
        return "", (f"a marker is not heeded: {error}",)


def _read_marks(written: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the valid names in normal form, and a notice for each invalid one.

    A bad marker is no error, because the story should go on.
    """
    found, notices = {}, []
    for kind, text in written.items():
        try:
            name = read_name(text, f"[[saga:{kind}=…]]")
        except RequestError as error:
            notices.append(f"a marker is not heeded: {error}")
        else:
            if name:
                found[kind] = name
    return found, tuple(notices)


def read_name(text: str | None, where: str) -> str | None:
    """Return a name in normal form, None if it is empty. Raises ``RequestError`` for an invalid name."""
    name = clean_name(text or "")
    if (
        _CONTROLS.search(text or "")
        or len(name) > LONGEST_NAME
        or not _WRITTEN.sub("", name).isprintable()
        or not _INVISIBLE.isdisjoint(name)
    ):
        raise RequestError(f"{where}: a name has at most {LONGEST_NAME} printable characters, all visible", param=where)
    return name or None


def _configured(identify: Identify, user: str | None, messages: Sequence[Any]) -> str | None:
    if identify == "user":
        return read_name(user, "user")
    if identify == "system-md5":
        for message in messages:
            if isinstance(message, Mapping) and message.get("role") == "system":
                text = _text(message)
                return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8]
    return None


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return flatten(content)
    return ""


# -- markers ---------------------------------------------------------------------------------------------------


def take_markers(messages: list[Any], counted: Collection[str] = _COUNTED["all"]) -> tuple[dict[str, str], list[Any]]:
    """Return the last marker of each kind in messages of the roles ``counted``, and all messages without markers.

    Markers in other messages (of a model, a tool or a greeting) are removed but do not count, because clients send
    these messages back as part of the history. A line or a system message that holds only markers is removed too.
    If there is no marker, ``messages`` itself is returned.
    """
    found: dict[str, list[str]] = {}
    cleaned: list[Any] | None = None
    ignored: dict[str, list[str]] = {}
    for index, message in enumerate(messages):
        if type(message) is dict and type(content := message.get("content")) is str and "[[" not in content:
            continue  # the fast path for nearly all messages of a long history
        into = found if isinstance(message, Mapping) and message.get("role") in counted else ignored
        content = message.get("content") if isinstance(message, Mapping) else None
        if isinstance(content, str):
            if not _hints(content):
                continue
            new: Any = _take(content, into)
        elif isinstance(content, list) and any(_hints(_part_text(part)) for part in content):
            new = [
                {**part, "text": _take(part["text"], into)} if _hints(_part_text(part)) else part for part in content
            ]
        else:
            continue
        if new != content:
            cleaned = list(messages) if cleaned is None else cleaned
            gone = new == "" and message.get("role") in SYSTEM_ROLES
            cleaned[index] = None if gone else {**message, "content": new}
    written = {kind: "\n".join(names) if kind == TRACKER else names[-1] for kind, names in found.items()}
    if cleaned is None:
        return written, messages
    return written, [message for message in cleaned if message is not None]


def _hints(text: str) -> bool:
    """Whether ``text`` holds a marker. Fast, because each request carries the whole history."""
    return "[[" in text and MARKER.search(text) is not None


def _part_text(part: Any) -> str:
    text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def _take(text: str, found: dict[str, list[str]]) -> str:
    for kind, name in MARKER.findall(text):
        if name.strip():
            found.setdefault(kind.lower(), []).append(name.strip())
    return without_markers(text, _without_seen)


def _without_seen(text: str) -> str:
    """Return a text without the markers that can be seen in it. What they leave may be one, which counts as nothing."""
    *lines, last = text.split("\n")
    return "".join(_without_marks(line) for line in (*(f"{line}\n" for line in lines), last))


def _without_marks(line: str) -> str:
    """Return a line without its markers and the blanks before them; empty if it holds only markers."""
    kept, at = [], 0
    for mark in MARKER.finditer(line):
        kept.append(line[at : mark.start()].rstrip(" \t"))
        at = mark.end()
    if not at:
        return line
    kept.append(line[at:])
    return "".join(kept) if any(part.strip() for part in kept) else ""
