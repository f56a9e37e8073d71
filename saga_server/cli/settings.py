"""What all commands share: how they are found, how they find their configuration, and how they report errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from attrs import evolve, field, frozen

from saga_core import registry
from saga_core.config import Config, load_config
from saga_core.errors import BadInput, ConfigError, NotFound, SagaError
from saga_server.terminal import say

USAGE = 2
"""Exit code for errors in the configuration or on the command line."""
SURROUNDINGS = 1
"""Exit code for other errors, such as a port in use, a folder that cannot be written, or damaged data."""
DEFAULT_FILE = "saga.yaml"


@frozen
class Place:
    """Where a command finds its settings and its data."""

    file: Path | None
    data: Path | None
    url: str | None = None
    """The address of the server to ask; None for the one that has the data."""
    headers: Mapping[str, str] = field(factory=dict)
    """Sent to that server: the key, if it is not that of the settings."""

    def config(self) -> Config:
        """Load the configuration, with ``data`` as its data directory. Raises ``ConfigError``."""
        default = Path(DEFAULT_FILE)
        config = load_config(default if self.file is None and default.is_file() else self.file)
        registry.add_entry_points(config.plugins)
        if self.data is not None:
            config = evolve(config, storage=evolve(config.storage, path=str(Path.cwd() / self.data)))
        return config


def settings(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options ``--config`` and ``--data``. The command gets both as its argument ``place``."""

    @click.option(
        "--config",
        "file",
        type=click.Path(path_type=Path),
        envvar="SAGA_CONFIG",
        help=f"The settings file. SAGA_CONFIG names it too; without either ./{DEFAULT_FILE} is used if it is there.",
    )
    @click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        help="Data directory, instead of storage.path.",
    )
    @wraps(command)
    def with_place(*arguments: Any, file: Path | None, data: Path | None, **options: Any) -> None:
        command(*arguments, place=Place(file, data), **options)

    return with_place


def server_address(_: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Return the address of a server as it is used. Anything else is refused, and not repeated, as it may hold a key.

    A callback of click.
    """
    if given is None:
        return None
    try:
        parts = urlsplit(given.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not given.isprintable():
        raise click.BadParameter("give an address such as http://127.0.0.1:8765", param=option)
    if "@" in given or parts.query or parts.fragment:
        raise click.BadParameter(
            "an address with a name, a password or a query is not taken; give it as http://HOST:PORT, and one of "
            "SAGA's keys in SAGA_KEY",
            param=option,
        )
    return given.strip().rstrip("/")


def server_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of ``settings`` and ``--url``, for a command that asks a running server."""

    @click.option(
        "--url",
        "server_url",
        callback=server_address,
        help="Address of the server to ask, instead of the one that has the data. SAGA_KEY names its API key, if it is "
        "not the first in server.api_keys.",
    )
    @settings
    @wraps(command)
    def with_server(*arguments: Any, place: Place, server_url: str | None, **options: Any) -> None:
        key = os.environ.get("SAGA_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        command(*arguments, place=evolve(place, url=server_url, headers=headers), **options)

    return with_server


class SagaGroup(click.Group):
    """A group whose commands may be in modules of their own, so that a command does not wait for others' imports.

    ``places`` maps the name of such a command to ``module:attribute``.
    """

    def __init__(self, *arguments: Any, places: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*self.places, *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command."""
        if cmd_name in self.places:
            module, _, attribute = self.places[cmd_name].partition(":")
            found: click.Command = getattr(import_module(module), attribute)
            return found
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke a command. An error is printed on stderr, with one line for each wrong setting."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # click ends the program quietly
        except (SagaError, OSError) as error:
            source = f"{error.source}: " if isinstance(error, ConfigError) else ""
            for problem in error.problems if isinstance(error, ConfigError) else [error]:
                say(f"saga: {source}{problem}", err=True)
            sys.exit(USAGE if isinstance(error, BadInput | NotFound) else SURROUNDINGS)
