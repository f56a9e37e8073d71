"""The command ``saga``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click
from attrs import evolve

from saga_core.config import Config
from saga_core.config.model import LogLevel
from saga_core.errors import SagaError
from saga_server.bench.command import bench
from saga_server.cli_backup import backup, restore
from saga_server.cli_config import SURROUNDINGS, fail, find_config, settings
from saga_server.cli_explain import explain
from saga_server.cli_memories import memories
from saga_server.cli_rebuild import rebuild
from saga_server.cli_sessions import compare, sessions, timelines
from saga_server.cli_transfer import export_command, forget, import_command
from saga_server.cli_verify import jobs, verify
from saga_server.conformance_command import conformance
from saga_server.demo.command import demo
from saga_server.top import top


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="saga-rp", prog_name="saga")
def main() -> None:
    """Memory for long role-play: a proxy between a chat frontend and its model."""


@main.command()
@settings
@click.option("--host", help="The address to listen on, instead of server.host.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port, instead of server.port; 0 takes a free one.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What goes to stderr, instead of logging.level.",
)
def serve(file: Path | None, data: Path | None, host: str | None, port: int | None, log_level: LogLevel | None) -> None:
    """Start the proxy and print the base URL to paste into the frontend."""
    from saga_server.event_loop import run_watched
    from saga_server.logs import set_up_logging
    from saga_server.serving import serve as serve_until_asked

    def configured() -> Config:
        config = find_config(file, data)
        server = config.server
        return evolve(
            config,
            server=evolve(server, host=host or server.host, port=server.port if port is None else port),
            logging=evolve(config.logging, level=log_level or config.logging.level),
        )

    try:
        config = configured()
        set_up_logging(config)
        run_watched(serve_until_asked(config, configured))
    except (SagaError, OSError) as error:
        fail(error)
    except KeyboardInterrupt:
        sys.exit(130)


@main.command()
@settings
def doctor(file: Path | None, data: Path | None) -> None:
    """Check the configuration, the stores, the worlds and the provider, and say what to mend."""
    from saga_server.doctor import examine
    from saga_server.logs import log_errors_only

    try:
        config = find_config(file, data)
        log_errors_only(config)
        healthy = asyncio.run(examine(config, click.echo))
    except SagaError as error:
        fail(error)
    sys.exit(0 if healthy else SURROUNDINGS)


# -- further commands are added here, each from its own module: main.add_command(...) ----------------------------

main.add_command(backup)
main.add_command(bench)
main.add_command(compare)
main.add_command(conformance)
main.add_command(demo)
main.add_command(export_command)
main.add_command(forget)
main.add_command(import_command)
main.add_command(jobs)
main.add_command(explain)
main.add_command(memories)
main.add_command(rebuild)
main.add_command(restore)
main.add_command(sessions)
main.add_command(timelines)
main.add_command(top)
main.add_command(verify)


if __name__ == "__main__":
    main()
