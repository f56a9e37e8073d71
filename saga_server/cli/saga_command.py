"""The command ``saga``."""

from __future__ import annotations

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import evolve

from saga_core.config import Config, LogLevel
from saga_server.cli.settings import DEFAULT_FILE, SURROUNDINGS, Place, SagaGroup, server_settings, settings
from saga_server.process import few_arenas, put_off
from saga_server.terminal import let_everything_be_said, say

if TYPE_CHECKING:
    from saga_server.hosting import Worker

_FURTHER = {
    "audit": "saga_server.cli.keys:audit",
    "backfill": "saga_server.cli.backfill:backfill",
    "backup": "saga_server.cli.data.backup:backup",
    "bench": "saga_server.cli.bench:bench",
    "compare": "saga_server.cli.sessions:compare",
    "continue": "saga_server.cli.sessions:continue_",
    "conformance": "saga_server.cli.conformance:conformance",
    "demo": "saga_server.demo.command:demo",
    "explain": "saga_server.cli.explain:explain",
    "export": "saga_server.cli.data.transfer:export_command",
    "forget": "saga_server.cli.data.transfer:forget",
    "import": "saga_server.cli.importing:import_command",
    "jobs": "saga_server.cli.data.verify:jobs",
    "keys": "saga_server.cli.keys:keys",
    "mcp": "saga_server.cli.tools:mcp",
    "move": "saga_server.cli.data.move:move",
    "memories": "saga_server.cli.memories:memories",
    "rebuild": "saga_server.cli.data.rebuild:rebuild",
    "restore": "saga_server.cli.data.backup:restore",
    "risuai": "saga_server.cli.panels:risuai",
    "sessions": "saga_server.cli.sessions:sessions",
    "setup": "saga_server.cli.setup:setup",
    "share": "saga_server.cli.sessions:share",
    "sillytavern": "saga_server.cli.panels:sillytavern",
    "timelines": "saga_server.cli.sessions:timelines",
    "tools": "saga_server.cli.tools:tools",
    "top": "saga_server.cli.top:top",
    "verify": "saga_server.cli.data.verify:verify",
}
"""The commands of other modules, by name. Add new ones here."""


@click.group(cls=SagaGroup, places=_FURTHER, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="saga-rp", prog_name="saga")
def main() -> None:
    """Memory for long role-play: a proxy between a chat frontend and its model."""
    let_everything_be_said()
    os.umask(os.umask(0o077) | 0o077)  # files hold stories and keys: no access for other users of this machine


@main.command()
@settings
@click.option("--host", help="Address to listen on, instead of server.host.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), help="Port to listen on, instead of server.port; 0 picks a free port."
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="Log level for stderr, instead of logging.level.",
)
def serve(place: Place, host: str | None, port: int | None, log_level: LogLevel | None) -> None:
    """Start the proxy, and print the base URL for the frontend."""

    worker: Worker | None = None

    def configured() -> Config:
        config = place.config()
        if worker is not None:
            config = worker.settings(config)
        server = config.server
        return evolve(
            config,
            server=evolve(server, host=host or server.host, port=server.port if port is None else port),
            logging=evolve(config.logging, level=log_level or config.logging.level),
        )

    try:
        few_arenas()
        if "SAGA_WORKER" in os.environ:
            from saga_server.hosting import Worker

            worker = Worker.of()
        with put_off():
            config = configured()  # before the slow imports, so that errors are reported at once
            if config.server.workers > 1 and worker is None:
                sys.exit(_serve_together(config))
            _import_libraries()
            from saga_server.cli.serve import serve as serve_until_asked
            from saga_server.process import run_watched, set_up_logging

            set_up_logging(config)
            path = (place.file or Path(DEFAULT_FILE)).absolute()
            run_watched(serve_until_asked(config, configured, path, worker))
    except KeyboardInterrupt:
        sys.exit(130)


def _serve_together(config: Config) -> int:
    """Start several processes, keep them running, and return the exit code. Raises ``SagaError``."""
    from saga_server.cli.announce import say_line
    from saga_server.hosting import Family, check_workers
    from saga_server.process import set_up_logging, withdraw_address

    check_workers(config)
    set_up_logging(config)
    try:
        return asyncio.run(Family(config, lambda line: say_line(config, line)).run())
    finally:
        withdraw_address(config)


def _import_libraries() -> None:
    """Import aiohttp in a thread while the engine is imported in this one.

    The import of aiohttp loads the machine's certificates twice, and releases the interpreter's lock meanwhile.
    """
    with ThreadPoolExecutor(1) as beside:
        library = beside.submit(import_module, "aiohttp")
        import_module("saga_core.assembly.engine")
        library.result()


@main.command()
@server_settings
@click.option(
    "--narrator",
    metavar="MODEL",
    help="Instead, play eight turns with this model for each way to report, and recommend one. The turns are billed.",
)
@click.option(
    "--lang",
    metavar="TAG",
    help="Language of these turns, such as en, instead of that of session.default_world.",
)
def doctor(place: Place, narrator: str | None, lang: str | None) -> None:
    """Check the configuration, the stores, the worlds and the provider, and say how to fix problems."""
    from saga_server.doctor import examine, examine_narrator
    from saga_server.process import log_errors_only

    if lang is not None and narrator is None:
        raise click.UsageError("--lang goes with --narrator MODEL")

    config = place.config()
    log_errors_only(config)
    looking = (
        examine(config, say, place.url, place.headers)
        if narrator is None
        else examine_narrator(config, narrator, lang, say)
    )
    healthy = asyncio.run(looking)
    sys.exit(0 if healthy else SURROUNDINGS)


if __name__ == "__main__":
    main()
