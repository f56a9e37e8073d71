"""The settings file that ``saga setup`` writes, and the file beside it that holds a key."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from saga_core.errors import BadInput
from saga_core.replacing import replace_file
from saga_server.setup.choices import OFFLINE, FrontendChoice, ProviderChoice


@frozen(kw_only=True)
class Answers:
    """What was answered. ``model``: empty, when it is picked in the frontend. ``world``: None for none."""

    frontend: FrontendChoice
    provider: ProviderChoice
    model: str = ""
    base_url: str | None = None
    key: str | None = None
    """How the settings name the key: ``${NAME}`` or ``${file:/path}``; None when the file need not say it."""
    world: str | None = None


def settings_text(answers: Answers) -> str:
    """The settings as YAML. No key stands in it."""
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


def _quoted(text: str) -> str:
    """``text`` as YAML reads it back, whatever is in it."""
    return json.dumps(text, ensure_ascii=False)


def keep_key(key: str, settings: Path, provider: str) -> str:
    """Write ``key`` into a file beside ``settings`` that only its owner may read; how the settings refer to it.

    On Windows who may read it is decided by its folder: below your user's folder that is you. Raises ``BadInput`` for
    a key that cannot be one, and ``OSError``.
    """
    if not key.isascii() or not key.isprintable() or any(letter.isspace() for letter in key):
        raise BadInput("the key: a key is printable ASCII without blanks; copy it again from the provider's page")
    place = settings.absolute().with_name(f"{settings.stem}.{provider}.key")
    if "}" in str(place):
        raise BadInput(f"{place}: a folder with '}}' in its name cannot be referred to; set the key in the environment")
    write_private(place, key + "\n")
    return f"${{file:{place.as_posix()}}}"


def write_private(place: Path, text: str) -> None:
    """``text`` into ``place``, whole or not at all, for its owner's eyes. Raises ``OSError``."""
    part = place.with_name(f".{place.name}.{os.getpid()}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        replace_file(part, place)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def set_aside(place: Path) -> Path:
    """Rename ``place`` to a free name beside it, which is returned. Raises ``OSError``."""
    number = 0
    while True:
        number += 1
        other = place.with_name(f"{place.name}.old{'' if number == 1 else number}")
        if not other.exists():
            return place.rename(other)
