"""The command ``saga``."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from attrs import evolve

from saga_core.config import Config, load_config
from saga_core.errors import BadInput, ConfigError, SagaError
from saga_server.demo.command import demo

USAGE = 2
"""Exit code: the configuration or the command line is at fault."""
SURROUNDINGS = 1
"""Exit code: the machine is at fault: a port in use, a folder that cannot be written, damaged data."""

_DEFAULT_FILE = "saga.yaml"

F = TypeVar("F", bound=Callable[..., Any])


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="saga-rp", prog_name="saga")
def main() -> None:
    """Memory for long role-play: a proxy between a chat frontend and its model."""


def settings(command: F) -> F:
    """The options by which every command finds its configuration: ``--config`` and ``--data``."""
    command = click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        help="The data directory, instead of storage.path.",
    )(command)
    return click.option(
        "--config",
        "file",
        type=click.Path(path_type=Path),
        envvar="SAGA_CONFIG",
        help=f"The settings file. SAGA_CONFIG names it too; without either ./{_DEFAULT_FILE} is used if it is there.",
    )(command)


def find_config(file: Path | None, data: Path | None) -> Config:
    """The configuration for a command. Raises ``ConfigError``."""
    if file is None and Path(_DEFAULT_FILE).is_file():
        file = Path(_DEFAULT_FILE)
    config = load_config(file)
    if data is not None:
        config = evolve(config, storage=evolve(config.storage, path=str(Path.cwd() / data)))
    return config


def fail(error: BaseException) -> NoReturn:
    """Say on stderr what is wrong, a line for each culprit, and end with the exit code for it."""
    lines = [f"{error.source}: {problem}" for problem in error.problems] if isinstance(error, ConfigError) else [error]
    for line in lines:
        click.echo(f"saga: {line}", err=True)
    sys.exit(USAGE if isinstance(error, BadInput) else SURROUNDINGS)


@main.command()
@settings
@click.option("--host", help="The address to listen on, instead of server.host.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port, instead of server.port; 0 takes a free one.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="What goes to stderr.",
)
def serve(file: Path | None, data: Path | None, host: str | None, port: int | None, log_level: str) -> None:
    """Start the proxy and print the base URL to paste into the frontend."""
    from saga_server.logs import secrets_of, set_up_logging

    try:
        config = find_config(file, data)
        server = config.server
        config = evolve(
            config,
            server=evolve(server, host=host or server.host, port=server.port if port is None else port),
        )
        set_up_logging(log_level, secrets_of(config))
        asyncio.run(_serve(config))
    except (SagaError, OSError) as error:
        fail(error)
    except KeyboardInterrupt:
        sys.exit(130)


async def _serve(config: Config) -> None:
    import logging

    from saga_server.announce import announce, farewell, leaving
    from saga_server.collector import settle
    from saga_server.wiring import Server

    for warning in config.warnings:
        logging.getLogger("saga.config").warning("%s", warning)
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def ask() -> None:
        for number in signals:  # the next one ends the program at once
            loop.remove_signal_handler(number)
        asked.set()

    server = Server(config)
    await server.start()
    settle()
    if os.name == "posix":
        for number in signals:
            loop.add_signal_handler(number, ask)
    try:
        announce(server)
        await asked.wait()
        leaving(server)
    finally:
        report = await server.stop()
    farewell(report)


@main.command()
@settings
def doctor(file: Path | None, data: Path | None) -> None:
    """Check the configuration, the stores, the worlds and the provider, and say what to mend."""
    from saga_server.doctor import examine
    from saga_server.logs import secrets_of, set_up_logging

    try:
        config = find_config(file, data)
        set_up_logging("error", secrets_of(config))
        healthy = asyncio.run(examine(config, click.echo))
    except SagaError as error:
        fail(error)
    sys.exit(0 if healthy else SURROUNDINGS)


# -- further commands are added here, each from its own module: main.add_command(...) ----------------------------

main.add_command(demo)


if __name__ == "__main__":
    main()
