"""The limits of what a record of a file may hold, whatever format it came from."""

from __future__ import annotations

from collections.abc import Iterable

from saga_core.imports.records import Card, Chat, Group, Persona, Record, Unreadable

MESSAGES = 200_000
"""Most messages of a chat. Each reply beside the one that was taken counts as one: it becomes a turn as well."""
NAME = 1_000
"""Longest name of a character, a player or a persona, in characters. Macros put names into texts again and again."""


def check(record: Record) -> None:
    """Raise ``Unreadable`` if a name is too long, or a chat has too many messages and swipes."""
    if isinstance(record, Card):
        _check_names([("name", record.name), ("nickname", record.nickname)])
    elif isinstance(record, Persona):
        _check_names([("the persona's name", record.name)])
    elif isinstance(record, Group):
        _check_names([("the group's name", record.name)])
    elif isinstance(record, Chat):
        _check_names([("the player's name", record.user), ("the character's name", record.character)])
        _check_names(
            (f"the name of message {at}'s speaker", each.speaker) for at, each in enumerate(record.messages, 1)
        )
        check_amount(len(record.messages), sum(len(each.swipes) for each in record.messages))


def check_amount(messages: int, swipes: int) -> None:
    """Raise ``Unreadable`` if a chat has too many messages and swipes."""
    if messages + swipes > MESSAGES:
        raise Unreadable(
            f"the chat has {messages:,} messages and {swipes:,} swipes; at most {MESSAGES:,} of both together are "
            "taken: divide it, or remove swipes"
        )


def _check_names(names: Iterable[tuple[str, str]]) -> None:
    for field, name in names:
        if len(name) > NAME:
            raise Unreadable(
                f'{field} has {len(name):,} characters ("{name[:40]}…"); at most {NAME:,} are taken: shorten it'
            )
