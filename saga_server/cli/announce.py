"""What ``saga serve`` prints when it starts and stops, for the person at the terminal and for other commands.

With ``logging.format: json`` these lines go to the log, so that the output of the process is JSON objects only.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from saga_core.background import DrainReport
from saga_core.config import Config
from saga_core.errors import StoreError
from saga_core.storage import DAMAGED
from saga_server.process import READY_AT, publish_address, withdraw_address
from saga_server.terminal import counted, on_one_line

if TYPE_CHECKING:
    from saga_server.server import Server

_log = logging.getLogger("saga.server")


def announce(server: Server) -> None:
    """Print the server's address, how to connect a frontend, and the narrator, stores, data directory and worlds.

    The address is also written to the data directory, where other commands find it.
    """
    folder = server.config.data_dir
    if folder.is_dir():
        try:
            publish_address(server.config, server.url)
        except (OSError, StoreError) as error:  # such as a full disk; the server works without this file
            _log.warning("%s: where the server listens cannot be noted (%s); commands cannot ask it", folder, error)
    base = f"{server.url}/v1"
    rows = [
        ("base URL", base),
        ("pages", f"{server.url}/ui/ (in a browser: what SAGA remembers, and correcting it)"),
        ("SillyTavern", f"API Connections > Chat Completion > Custom (OpenAI-compatible) > Custom Endpoint: {base}"),
        ("RisuAI", f"Settings > Chat Bot > Model: Reverse Proxy > URL: {base}/chat/completions"),
        ("API key", _key(server.config)),
        ("narrator", _narrator(server)),
        ("stores", _stores(server)),
        ("data", str(server.config.data_dir)),
        ("worlds", ", ".join(map(on_one_line, server.saga.worlds.names())) or "none yet"),
    ]
    config = server.config
    if sys.stdout.isatty() and not _logged(config):
        _print_rich(rows)
    else:
        width = max(len(name) for name, _ in rows)
        for name, text in rows:
            say_line(config, f"{name}: {text}" if _logged(config) else f"  {name:<{width}}  {text}")
    unrecorded = server.saga.counters.degraded.get(DAMAGED)
    if unrecorded is not None:
        say_line(config, f"SAGA runs at {base}, and records nothing: {unrecorded}")
        return
    say_line(config, READY_AT + base)


def _key(config: Config) -> str:
    if not config.server.api_keys:
        return "any text, but always the same: a chat is found again by it"
    return "one of server.chat_keys or server.api_keys" if config.server.chat_keys else "one of server.api_keys"


def _narrator(server: Server) -> str:
    if server.narrators.beside:
        return "built in, offline (models.narration)"
    if server.narrators.offline:
        return (
            "built in, offline: no provider is configured; set OPENAI_API_KEY, api_keys or providers.openai.base_url "
            "for a real one"
        )
    model = server.narrators.model or "the model that the request names"
    return f"{model}, from {', '.join(server.narrators.describe())}"


def _stores(server: Server) -> str:
    found = server.saga.stores.all()
    return ", ".join(f"{kind}: {store.info.name}" for kind, store in found.items())


def leaving(server: Server) -> None:
    """Withdraw the published address, and print what the server waits for before it stops, and how long."""
    try:
        withdraw_address(server.config)
    except OSError as error:
        _log.warning("%s: the note where the server listens cannot be removed (%s)", server.config.data_dir, error)
    seconds = server.config.server.drain_timeout
    say_line(
        server.config,
        f"SAGA is stopping: {counted(server.open_requests, 'open reply', 'open replies')} and the background work get "
        f"{seconds:g} s; "
        "press Ctrl-C again to end at once",
    )


def at_once(config: Config) -> None:
    """Print that the server ends without waiting any longer."""
    say_line(
        config, "SAGA ends at once; what was recorded is safe, and the rest waits in the journal for the next start"
    )


def farewell(config: Config, report: DrainReport, abandoned: Sequence[str] = ()) -> None:
    """Print how much background work was finished, what is left for the next start, and what did not end in time."""
    say_line(config, f"SAGA stopped: {counted(report.done, 'piece', 'pieces')} of background work finished")
    if report.waiting:
        reasons = sorted({each.reason for each in report.waiting})
        many = len(report.waiting)
        say_line(
            config,
            f"  {many} {'waits' if many == 1 else 'wait'} in the journal for the next start ({'; '.join(reasons)})",
        )
    for what in abandoned:
        say_line(config, f"  left behind, as it did not end in time: {what}; what was recorded is safe")


def _logged(config: Config) -> bool:
    return config.logging.format == "json"


def say_line(config: Config, line: str) -> None:
    """Print a line for people, or log it when ``logging.format`` is ``json``."""
    if _logged(config):
        _log.info("%s", line.strip())
        return
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _print_rich(rows: list[tuple[str, str]]) -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(name, text)
    Console().print(Panel(table, title="SAGA", title_align="left", expand=False))
