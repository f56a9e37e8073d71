"""Writes the settings file of ``saga setup``, and the separate file for a key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from saga_core.errors import BadInput
from saga_core.trackers import AUTO
from saga_server.process import write_private
from saga_server.setup.choices import OFFLINE, FrontendChoice, ProviderChoice


@frozen(kw_only=True)
class Answers:
    """The answers. ``model`` is empty when it is chosen in the frontend. ``world`` is None for no world."""

    frontend: FrontendChoice
    provider: ProviderChoice
    model: str = ""
    base_url: str | None = None
    key: str | None = None
    """The reference to the key in the settings, ``${NAME}`` or ``${file:/path}``. None if they need none."""
    world: str | None = None
    profile: str = AUTO
    """What sort of story is played; ``auto`` if each card decides."""


def settings_text(answers: Answers) -> str:
    """Return the settings as YAML. They contain no key, only a reference to it."""
    return "\n".join(_lines(answers)) + "\n"


def _lines(answers: Answers) -> Iterator[str]:
    yield "# Written by `saga setup`. docs/configuration.md lists every key."
    provider = answers.provider
    if answers.frontend.origin is not None:
        yield "server:"
        yield f"  origins: [{_quoted(answers.frontend.origin)}]"
    if provider.name == OFFLINE:
        yield "models:"
        yield f"  narration: {OFFLINE}"
    else:
        yield "providers:"
        yield f"  {provider.section}:"
        if answers.base_url:
            yield f"    base_url: {_quoted(answers.base_url)}"
        if answers.key:
            yield f"    api_key: {_quoted(answers.key)}"
        if provider.local:
            yield "    slots: 1  # one request at a time"
            yield "    timeout: 1800  # a small machine needs minutes to read a long prompt"
        elif not answers.base_url and not answers.key:
            yield f"    max_retries: 2  # the key is in {provider.variable}"
        if answers.model:
            yield "models:"
            yield f"  narration: {_quoted(f'{provider.section}/{answers.model}')}"
    if answers.world is not None:
        yield "session:"
        yield f"  default_world: {_quoted(answers.world)}"
    if answers.profile != AUTO:
        yield f"profile: {answers.profile}"


def _quoted(text: str) -> str:
    """Quote ``text`` for YAML."""
    return json.dumps(text, ensure_ascii=False)


def keep_key(key: str, settings: Path, provider: str) -> str:
    """Write ``key`` into a file beside ``settings``, and return the reference for the settings.

    Only the owner may read the file. On Windows the permissions of its folder decide instead; below your user folder
    that is only you. Raises ``BadInput`` for an invalid key or folder name, and ``OSError``.
    """
    if not key.isascii() or not key.isprintable() or any(letter.isspace() for letter in key):
        raise BadInput("the key: a key is printable ASCII without blanks; copy it again from the provider's page")
    place = settings.absolute().with_name(f"{settings.stem}.{provider}.key")
    if "}" in str(place):
        raise BadInput(f"{place}: a folder with '}}' in its name cannot be referred to; set the key in the environment")
    write_private(place, key + "\n")
    return f"${{file:{place.as_posix()}}}"


def set_aside(place: Path) -> Path:
    """Rename ``place`` to a free name in the same folder, and return it. Raises ``OSError``."""
    number = 0
    while True:
        number += 1
        other = place.with_name(f"{place.name}.old{'' if number == 1 else number}")
        if not other.exists():
            return place.rename(other)
