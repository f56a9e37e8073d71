"""How commands find their configuration, and how they report errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from attrs import evolve

from saga_core.config import Config, load_config
from saga_core.errors import BadInput, ConfigError, NotFound
from saga_server.terminal import say

USAGE = 2
"""Exit code for errors in the configuration or on the command line."""
SURROUNDINGS = 1
"""Exit code for other errors, such as a port in use, a folder that cannot be written, or damaged data."""

DEFAULT_FILE = "saga.yaml"

F = TypeVar("F", bound=Callable[..., Any])


def settings(command: F) -> F:
    """Add the options ``--config`` and ``--data``, by which commands find their configuration."""
    command = click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        help="Data directory, instead of storage.path.",
    )(command)
    return click.option(
        "--config",
        "file",
        type=click.Path(path_type=Path),
        envvar="SAGA_CONFIG",
        help=f"The settings file. SAGA_CONFIG names it too; without either ./{DEFAULT_FILE} is used if it is there.",
    )(command)


def find_config(file: Path | None, data: Path | None) -> Config:
    """Load the configuration for a command, with ``data`` as its data directory. Raises ``ConfigError``."""
    if file is None and Path(DEFAULT_FILE).is_file():
        file = Path(DEFAULT_FILE)
    config = load_config(file)
    if data is not None:
        config = evolve(config, storage=evolve(config.storage, path=str(Path.cwd() / data)))
    return config


def fail(error: BaseException) -> NoReturn:
    """Print the error on stderr, with one line for each wrong setting, and exit with the exit code for it."""
    lines = [f"{error.source}: {problem}" for problem in error.problems] if isinstance(error, ConfigError) else [error]
    for line in lines:
        say(f"saga: {line}", err=True)
    sys.exit(USAGE if isinstance(error, BadInput | NotFound) else SURROUNDINGS)
