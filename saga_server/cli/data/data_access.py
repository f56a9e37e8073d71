"""How commands access the data: directly, or through the server that has it open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from attrs import field, frozen

from saga_core.config import Config
from saga_core.errors import BadInput, LeaseLost, OwnedElsewhere, StoreLocked
from saga_server.cli.settings import Place

if TYPE_CHECKING:
    from saga_core import Saga

Work = Callable[["Saga"], Coroutine[Any, Any, Any]]

_SECONDS = 3_600.0
_MOST = 1 << 30
"""Limit of an answer, in bytes. An exported session of many years has a few hundred megabytes."""

as_json = click.option("--json", "plain", is_flag=True, help="Print JSON, in the format of the admin API.")


@frozen
class Asking:
    """The request that makes a running server do the same work."""

    method: str
    path: str
    query: Mapping[str, str | None] = field(factory=dict)
    body: bytes | None = None
    files: Sequence[tuple[str, bytes | Path]] = ()
    """Files to send as a form instead of ``body``: names, and contents or paths."""


def reached(place: Place, work: Work, *asking: Asking, fresh: bool = False) -> Any:
    """Run ``work`` on the data directory and return its result.

    While a server has the data open, send it the requests ``asking`` in order, and return the answer to the last one.
    With ``fresh`` a missing data directory is created. When neither way works, print the error and end the program.
    """
    from saga_server.process import log_errors_only

    config = place.config()
    log_errors_only(config)
    if not fresh:
        check_there(config)
    return asyncio.run(_reached(config, work, asking))


async def _reached(config: Config, work: Work, asking: tuple[Asking, ...]) -> Any:
    from saga_core import Saga
    from saga_server.process import NotAnswered
    from saga_server.tenancy import Tenancy

    try:
        saga = await Saga.open(config, resume=False, hosting=Tenancy())
    except StoreLocked as locked:
        if not asking:
            raise StoreLocked(f"{locked}. This command needs the data to itself") from locked
        try:
            return [await ask(config, each) for each in asking][-1]
        except NotAnswered as error:
            raise StoreLocked(f"{locked} ({error})") from error
    try:
        return await work(saga)
    except (OwnedElsewhere, LeaseLost) as error:
        owner = error if isinstance(error, OwnedElsewhere) else error.__cause__
        if not asking or not isinstance(owner, OwnedElsewhere) or not owner.address:
            raise
        # Another server holds the lease, and does the work there.
        return [await ask(config, each, owner.address) for each in asking][-1]
    finally:
        await saga.aclose(drain=0.0)


async def ask(config: Config, asking: Asking, address: str | None = None) -> Any:
    """Send a request to the running server, or to the one at ``address``, and return the JSON or else the bytes.

    Raises ``NotAnswered`` when the server cannot be reached, and ``NotFound`` or ``BadInput`` with its own message.
    """
    from saga_server.process import NOBODY, NotAnswered, address_of, authorization, call_api

    url = address or address_of(config.data_dir)
    if url is None:
        raise NotAnswered(NOBODY)
    query = {name: value for name, value in asking.query.items() if value is not None}
    headers, sent = authorization(config.server.api_keys), _sent(asking)
    return await call_api(url, asking.path, asking.method, headers, _MOST, _SECONDS, params=query, data=sent)


def _sent(asking: Asking) -> Any:
    """Return the body of a request, or a form when it has files."""
    if not asking.files:
        return asking.body
    import aiohttp

    with aiohttp.MultipartWriter("form-data") as form:
        for name, source in asking.files:
            data = source if isinstance(source, bytes) else source.open("rb")  # streamed, and closed after that
            part = form.append(data, {"Content-Type": "application/octet-stream"})
            part.set_content_disposition("form-data", name="file", filename=name)
    return form


def check_there(config: Config) -> None:
    """Raise ``BadInput`` when the data directory is missing, so that reading commands do not create one."""
    storage = config.storage
    named = storage.state.path is not None or storage.state.url is not None or storage.url is not None
    if not named and not config.data_dir.is_dir():
        raise BadInput(f"storage.path: there is nothing at {config.data_dir}; name the data directory with --data")


def segment(text: str) -> str:
    """Quote ``text``, such as the name of a session, for use as one segment of a path."""
    return quote(text, safe="")
