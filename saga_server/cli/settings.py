"""How commands find their configuration."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from attrs import evolve, frozen

from saga_core import registry
from saga_core.config import Config, load_config

DEFAULT_FILE = "saga.yaml"


@frozen
class Place:
    """Where a command finds its settings and its data."""

    file: Path | None
    data: Path | None

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
