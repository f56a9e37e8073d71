"""``saga mcp`` and ``saga tools``: a story's memory as tools for models."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from saga_core.errors import SagaError
from saga_server.cli.settings import Place, server_address, server_settings
from saga_server.terminal import say, say_json
from saga_server.tools import FORMATS, Call, Risk, manual, offered

_RISKS: tuple[Risk, ...] = ("read", "note", "change")
_allow = click.option(
    "--allow",
    type=click.Choice(_RISKS),
    multiple=True,
    default=("read", "note"),
    show_default=True,
    help="Offer tools of this risk. Give it once for each.",
)
_session = click.option("--session", help="Offer the tools for this session alone, by its id or name.")


@click.command()
@click.option("--format", "form", type=click.Choice(tuple(FORMATS)), required=True, help="Whose form to print.")
@_allow
@_session
@click.option(
    "--url",
    default="http://127.0.0.1:8765",
    show_default=True,
    callback=server_address,
    help="Address of the server, for the format utcp.",
)
def tools(form: str, allow: tuple[Risk, ...], session: str | None, url: str) -> None:
    """Print the tools for another host, as JSON."""
    say_json(manual(form, offered(frozenset(allow), session), url))


@click.command()
@server_settings
@_allow
@_session
def mcp(place: Place, allow: tuple[Risk, ...], session: str | None) -> None:
    """Serve a story's memory as tools over MCP, on stdin and stdout.

    The tools ask a running `saga serve`, with the rights of the key. It records who changed what.
    """
    from saga_server.process import ask, log_errors_only

    try:
        from saga_server.tools import MOST_BYTES, SECONDS, SESSION, mcp_server, serve_stdio
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed; run pip install 'saga-rp[mcp]'") from error
    config = place.config()
    log_errors_only(config)

    bound = ""
    """The id of the session, once SAGA has answered."""

    async def answer(call: Call) -> Any:
        nonlocal bound
        if session and not bound:
            bound = (await sent(SESSION.call({"session": session})))["id"]
        return await sent(call.bound(session, bound) if session else call)

    async def sent(call: Call) -> Any:
        return await ask(
            config,
            call.path,
            call.method,
            address=place.url,
            headers={"X-SAGA-Tool": "mcp", **place.headers},
            most=MOST_BYTES,
            seconds=SECONDS,
            params=call.query,
            data=call.body,
        )

    async def warn() -> None:
        """Say at once what every call would say, to whoever reads the host's log. The server may start later."""
        try:
            await answer(SESSION.call({"session": session}) if session else Call("GET", "/api/me", {}, None))
        except SagaError as error:
            say(f"saga mcp: {error}", err=True)

    async def serve() -> None:
        warning = asyncio.create_task(warn())
        await serve_stdio(mcp_server(offered(frozenset(allow), session), answer, session))
        warning.cancel()

    asyncio.run(serve())
