"""How commands read and change data: they are clients of the admin API.

A server that has the data open answers them. Without one, a command opens the data and answers its own requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from attrs import field, frozen

from saga_core.config import Config
from saga_core.errors import BadInput, HalfMoved, LeaseLost, OwnedElsewhere, StoreLocked
from saga_server.cli.settings import Place
from saga_server.terminal import say

if TYPE_CHECKING:
    from saga_core import Saga

Work = Callable[["Saga"], Coroutine[Any, Any, Any]]

_SECONDS = 3_600.0
_MOST = 1 << 30
"""Limit of an answer, in bytes. An exported session of many years has a few hundred megabytes."""

as_json = click.option("--json", "plain", is_flag=True, help="Print JSON, in the format of the admin API.")


@frozen
class Asking:
    """A request to the admin API."""

    method: str
    path: str
    query: Mapping[str, str | None] = field(factory=dict)
    body: bytes | None = None
    files: Sequence[tuple[str, bytes | Path]] = ()
    """Files to send as a form instead of ``body``: names, and contents or paths."""


def reached(place: Place, *asking: Asking, work: Work | None = None, fresh: bool = False) -> Any:
    """Send requests to the admin API in order, and return the answer to the last one.

    With ``work``, that is done instead when no server has the data open. With ``fresh`` a missing data directory is
    created. Raises ``SagaError`` when neither way works.
    """
    from saga_server.process import log_errors_only

    config = place.config()
    log_errors_only(config)
    if not fresh and place.url is None:
        check_there(config)
    return asyncio.run(_reached(config, place, asking, work))


def has_server(place: Place) -> bool:
    """Whether a running server answers the requests of ``reached``."""
    from saga_server.process import address_of

    return place.url is not None or address_of(place.config()) is not None


async def _reached(config: Config, place: Place, asking: Sequence[Asking], work: Work | None) -> Any:
    from saga_core import Saga
    from saga_server.process import NotAnswered, address_of
    from saga_server.tenancy import Tenancy

    if (address := place.url or address_of(config)) is not None:
        return await _asked(config, asking, address, place.headers)
    try:
        saga = await Saga.open(config, resume=False, hosting=Tenancy())
    except HalfMoved:
        raise  # by no server, which could be asked
    except StoreLocked as locked:  # perhaps by a server that is ready by now
        try:
            return await _asked(config, asking, headers=place.headers)
        except NotAnswered as error:
            raise StoreLocked(f"{locked} ({error})") from error
    try:
        for name, reason in saga.counters.degraded.items():
            if name.startswith("journal."):
                say(f"{name}: {reason}", err=True)
        if work is None:
            from saga_server.cli.data.own_api import own_api

            async with own_api(saga, config) as (address, headers):
                return await _asked(config, asking, address, headers)
        return await work(saga)
    except (OwnedElsewhere, LeaseLost) as error:
        owner = error if isinstance(error, OwnedElsewhere) else error.__cause__
        if not isinstance(owner, OwnedElsewhere) or not owner.address:
            raise
        # Another server holds the lease, and does the work there.
        return await _asked(config, asking, owner.address, place.headers)
    finally:
        await saga.aclose(drain=0.0)


async def _asked(
    config: Config, asking: Sequence[Asking], address: str | None = None, headers: Mapping[str, str] | None = None
) -> Any:
    return [await ask(config, each, address, headers) for each in asking][-1]


async def ask(
    config: Config, asking: Asking, address: str | None = None, headers: Mapping[str, str] | None = None
) -> Any:
    """Send a request to the running server, or to the one at ``address``, and return the JSON or else the bytes.

    Raises ``NotAnswered`` when the server cannot be reached, and ``NotFound`` or ``BadInput`` with its own message.
    """
    from saga_server.process import ask as ask_server

    query = {name: value for name, value in asking.query.items() if value is not None}
    return await ask_server(
        config,
        asking.path,
        asking.method,
        address=address,
        headers=headers,
        most=_MOST,
        seconds=_SECONDS,
        params=query,
        data=_sent(asking),
    )


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
