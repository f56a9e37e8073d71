"""Namespaces of records: paths such as ``/facts/local/s01``, compared segment by segment."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saga_core.errors import BadInput
from saga_core.language import nfc

DEEPEST = 10
"""The largest number of segments of a namespace."""
ACTOR, SESSION, STRATEGY, CARD = "actor", "session", "strategy", "card"
PLACES = (ACTOR, SESSION, STRATEGY, CARD)
"""The names that may stand in braces."""
LOCAL = "local"
"""The actor of sessions that belong to no API key."""
_HOLE = re.compile(r"\{([^{}]*)\}")


def segments(path: str) -> tuple[str, ...]:
    """Return the segments of a path. A trailing slash is ignored. Raises ``BadInput`` for an invalid path."""
    text = nfc(path)
    if not text.startswith("/"):
        raise BadInput(f"namespace: {path!r} does not begin with '/'; give a path such as /facts/{{actor}}/{{session}}")
    body = text[1:].removesuffix("/")
    found = tuple(body.split("/")) if body else ()
    for each in found:
        if not each or each != each.strip() or each in (".", "..") or not each.isprintable():
            raise BadInput(f"namespace: {path!r} has the segment {each!r}; give names without spaces at their ends")
    if len(found) > DEEPEST:
        raise BadInput(f"namespace: {path!r} has {len(found)} segments; give at most {DEEPEST}")
    return found


def within(path: str, prefix: str) -> bool:
    """Whether ``path`` is ``prefix`` or below it. ``/a/b/c`` is within ``/a/b``, but ``/a/bc`` is not."""
    above = segments(prefix)
    return segments(path)[: len(above)] == above


def checked(template: str) -> str:
    """Return ``template`` normalised. Raises ``BadInput`` for a template that could leak data between players.

    It may contain ``{actor}``, ``{session}``, ``{strategy}`` and ``{card}``, and must contain one of the first two.
    """
    found = segments(template)
    for hole in _HOLE.findall(template):
        if hole not in PLACES:
            allowed = ", ".join(f"{{{name}}}" for name in PLACES)
            raise BadInput(f"namespace: {template!r} has {{{hole}}}; allowed are {allowed}")
    if re.search(r"[{}]", _HOLE.sub("", template)):
        raise BadInput(f"namespace: {template!r} has a brace without its partner")
    if not crosses(template) or f"{{{ACTOR}}}" in template:
        return "/" + "/".join(found)
    raise BadInput(f"namespace: {template!r} would mix what different players said; put {{actor}} or {{session}} in it")


def crosses(template: str) -> bool:
    """Whether records of a namespace are used in the actor's other sessions. True if it names no session."""
    return f"{{{SESSION}}}" not in template


def within_session(template: str) -> str:
    """Return the namespace of the session below ``template``."""
    above = [each for each in template.split("/") if each][: DEEPEST - 1]
    return f"/{'/'.join((*above, f'{{{SESSION}}}'))}"


def of_card(template: str) -> bool:
    """Whether records of a namespace are used only in sessions that began with the same greeting of a card."""
    return f"{{{CARD}}}" in template


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return the namespace of ``template``. A value fills one segment or a part of one; its slashes are replaced."""
    return _HOLE.sub(lambda hole: _plain(values[hole[1]]), template)


def _plain(value: str) -> str:
    text = "".join(char if char.isprintable() and char not in "/{}" else "_" for char in nfc(value)).strip()
    return text if text not in ("", ".", "..") else "_"
