"""What ``saga serve`` says when it starts and stops: to the person at the terminal, and to other commands."""

from __future__ import annotations

import sys

from saga_core.engine.lanes import DrainReport
from saga_server.running import publish_address, withdraw_address
from saga_server.wiring import Server

READY = "SAGA ready at "
"""Begins the line by which scripts know that requests are taken, and where."""


def announce(server: Server) -> None:
    """Print where the server is, how to connect a frontend, and where everything lies. Raises ``OSError``."""
    if server.config.data_dir.is_dir():
        publish_address(server.config.data_dir, server.url)
    base = f"{server.url}/v1"
    rows = [
        ("base URL", base),
        ("SillyTavern", f"API Connections > Chat Completion > Custom (OpenAI-compatible) > Custom Endpoint: {base}"),
        ("RisuAI", f"Settings > Chat Bot > Model: Reverse Proxy > URL: {base}/chat/completions"),
        ("narrator", _narrator(server)),
        ("stores", _stores(server)),
        ("data", str(server.config.data_dir)),
        ("worlds", ", ".join(server.saga.worlds.names()) or "none yet"),
    ]
    if sys.stdout.isatty():
        _print_rich(rows)
    else:
        width = max(len(name) for name, _ in rows)
        for name, text in rows:
            _say(f"  {name:<{width}}  {text}")
    _say(READY + base)


def _narrator(server: Server) -> str:
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
    """Print what is waited for before the end."""
    withdraw_address(server.config.data_dir)
    seconds = server.config.server.drain_timeout
    _say(
        f"SAGA is stopping: {server.open_requests} open replies and the background work get {seconds:g} s; "
        "press Ctrl-C again to end at once"
    )


def farewell(report: DrainReport) -> None:
    """Print what became of the background work."""
    _say(f"SAGA stopped: {report.done} pieces of background work finished")
    if report.waiting:
        reasons = sorted({each.reason for each in report.waiting})
        _say(f"  {len(report.waiting)} wait in the journal for the next start ({'; '.join(reasons)})")


def _say(line: str) -> None:
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
