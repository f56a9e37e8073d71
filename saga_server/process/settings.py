"""The settings and providers that requests are served with, and how a reload replaces them."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs
from attrs import define, evolve, field, frozen
from prometheus_client import Counter

from saga_core import registry
from saga_core.config import Config
from saga_core.errors import ConfigError, NotSupported, SagaError
from saga_core.storage import backend_of
from saga_server.process.listening import check_listening
from saga_server.process.logs import secrets_of
from saga_server.process.masking import Mask
from saga_server.providers import Narrators


@define(eq=False)
class Current:
    """The settings and providers in force, and whether the server is stopping."""

    config: Config
    narrators: Narrators
    stopping: bool = False
    """Whether the server is shutting down."""
    _masks: tuple[Config, Mask] | None = field(default=None, init=False)

    @property
    def mask(self) -> Mask:
        """Hides the secrets of the settings in force."""
        if self._masks is None or self._masks[0] is not self.config:
            self._masks = self.config, Mask.of(secrets_of(self.config), _folders(self.config))
        return self._masks[1]


def _folders(config: Config) -> tuple[Path, ...]:
    """Folders that no player should know: those of the data, of the process, of its user, and of the program."""
    return config.data_dir.absolute(), Path.cwd(), Path.home(), Path(sys.prefix)


# -- Reloading the settings of a running server: which changes apply at once, and which need a restart ---------

_log = logging.getLogger("saga.config")

_AT_ONCE: Final = {
    "server": (
        "api_keys", "chat_keys", "origins", "max_messages", "max_text_mb", "max_cpu_seconds", "request_timeout",
        "keep_alive", "drain_timeout", "audit_days", "audit_entries",
    ),
    "models": ("narration", "aliases", "fallback"),
    "session": ("default_world", "identify", "markers", "server_history", "history_turns", "history_hours"),
    "recall": ("extraction_wait_ms", "other_sessions"),
    "logging": ("level", "format"),
}  # fmt: skip
"""For each section, the settings that apply at once. All of ``providers`` and ``api_keys`` does so as well."""
_WHOLE: Final = ("providers", "api_keys")

T = TypeVar("T")


@frozen
class Reloaded:
    """The result of a reload: the names of the settings that changed."""

    applied: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    """Changed settings that apply only after a restart."""


def merge(old: Config, new: Config) -> tuple[Config, Reloaded]:
    """Return ``old`` with those settings of ``new`` that apply at once, and what changed.

    Raises ``ConfigError`` when anybody could then use or administer the server.
    """
    applied: list[str] = []
    restart: list[str] = []
    for name in changed(old, new):
        (applied if applies_at_once(name) else restart).append(name)
    sections: dict[str, Any] = {name: getattr(new, name) for name in _WHOLE}
    for section, names in _AT_ONCE.items():
        fresh = getattr(new, section)
        sections[section] = evolve(getattr(old, section), **{name: getattr(fresh, name) for name in names})
    config = evolve(old, **sections, warnings=new.warnings)
    check_listening(config.server)
    if old.server.api_keys and not config.server.api_keys:
        # Some editors empty a file before they write it. That must not open the server to everybody.
        raise ConfigError(
            "config",
            ("server.api_keys: none are left, and then anybody could administer; restart the server to run without",),
        )
    return config, Reloaded(tuple(applied), tuple(restart))


_STORES: tuple[registry.Kind, ...] = ("state", "graph", "vector", "cache")


def _check_backends(config: Config, changed: Sequence[str]) -> None:
    """Raise ``ConfigError`` if the next start would not find the engine of a store."""
    problems = []
    for kind in _STORES:
        if (setting := f"storage.{kind}.backend") in changed:
            try:
                registry.load(kind, backend_of(config, kind))
            except SagaError as error:
                problems.append(f"{setting}: {error}")
    if problems:
        raise ConfigError("config", tuple(problems))


def applies_at_once(name: str) -> bool:
    """Whether a change of the setting, such as ``models.narration``, applies without a restart."""
    section, _, rest = name.partition(".")
    return section in _WHOLE or rest.partition(".")[0] in _AT_ONCE.get(section, ())


def changed(old: Config, new: Config) -> list[str]:
    """Return the names of the settings in which two configurations differ, such as ``server.port``, without values."""
    return [name for name in _differing(old, new, "") if name not in ("base", "warnings")]


def _differing(old: Any, new: Any, path: str) -> Iterator[str]:
    if attrs.has(type(old)) and type(old) is type(new):
        for attribute in attrs.fields(type(old)):
            here = f"{path}.{attribute.name}" if path else attribute.name
            yield from _differing(getattr(old, attribute.name), getattr(new, attribute.name), here)
    elif path == "providers":
        for name in sorted({*old, *new}):
            if name in old and name in new:
                yield from _differing(old[name], new[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}"
    elif old != new:
        yield path


@frozen
class Reloading:
    """Reads the settings again, and applies them to the server."""

    read: Callable[[], Config] | None
    """Reads the settings as they are now. None when a program passed them, so that they cannot be read again."""
    holding: Callable[[], Config]
    """Returns the settings in force."""
    hold: Callable[[Config], tuple[str, ...]]
    """Applies settings, and returns the names of those that need a restart nevertheless."""
    reloads: Counter
    file: Path | None = None
    """The settings file, which need not be there yet. None when a program passed the settings."""
    changing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held while the file is changed, because a change begins with the text that the one before wrote."""

    async def reload(self) -> Reloaded:
        """Reload the settings once.

        Raises ``ConfigError`` with all problems when they are invalid, and then nothing changes. Raises
        ``NotSupported`` when ``read`` is None.
        """
        if self.read is None:
            raise NotSupported("the settings of this server come from a program, and cannot be read again")
        try:
            fresh = await asyncio.to_thread(self.read)
            config, found = merge(self.holding(), fresh)
            await asyncio.to_thread(_check_backends, fresh, found.restart)
        except (ConfigError, OSError) as error:
            self.reloads.labels("refused").inc()
            _log.error("the settings were read again and refused; nothing changed: %s", error)
            raise
        needs_restart = self.hold(config)
        self.reloads.labels("applied").inc()
        found = Reloaded(
            tuple(name for name in found.applied if name not in needs_restart),
            tuple(dict.fromkeys((*found.restart, *needs_restart))),
        )
        for warning in config.warnings:
            _log.warning("%s", warning)
        _log.info(
            "the settings were read again; applied: %s; with the next start: %s",
            ", ".join(found.applied) or "nothing new",
            ", ".join(found.restart) or "nothing",
        )
        return found
